import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { TestingModule } from '@nestjs/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { BloomEvent } from '../../src/common/index.js';
import { BloomGuarded } from '../../src/guard/index.js';
import { BloomService } from '../../src/service/index.js';
import { startContext } from '../support/nest-app.js';
import { testBloom } from './support/test-bloom.js';
import { TestFilter } from './support/test-filter.js';

@Injectable()
class Shop {
  @BloomGuarded('products')
  async product(sku: string): Promise<string | null> {
    return sku;
  }

  @BloomGuarded('orders')
  async order(id: string): Promise<string | null> {
    return id;
  }
}

const apps: TestingModule[] = [];

async function start(filters: readonly TestFilter[], events: BloomEvent[] = []) {
  const app = await startContext({ imports: [testBloom({ filters, events })], providers: [Shop] });
  apps.push(app);
  return { app, shop: app.get(Shop), service: app.get(BloomService, { strict: false }) };
}

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

describe('A guard finds its filter', () => {
  it('in the application that the object belongs to, where several have the same class', async () => {
    const first = await start([new TestFilter('products', ['a']), new TestFilter('orders', ['b'])]);
    const second = await start([new TestFilter('orders', ['a']), new TestFilter('products', ['b'])]);
    for (let round = 0; round < 2; round++) {
      expect(await Promise.all([first.shop.product('a'), first.shop.product('b')])).toEqual(['a', null]);
      expect(await Promise.all([second.shop.product('a'), second.shop.product('b')])).toEqual([null, 'b']);
      expect(await Promise.all([first.shop.order('a'), first.shop.order('b')])).toEqual([null, 'b']);
      expect(await Promise.all([second.shop.order('a'), second.shop.order('b')])).toEqual(['a', null]);
    }
  });

  it('as soon as it is registered, and reports each call before', async () => {
    @Injectable()
    class Late {
      @BloomGuarded('late')
      async find(id: string): Promise<string | null> {
        return id;
      }
    }
    const events: BloomEvent[] = [];
    const { app, service } = await start([new TestFilter('products'), new TestFilter('orders')], events);
    const late = await app.get(ModuleRef).create(Late);
    expect(await late.find('none')).toBe('none');
    expect(await late.find('none')).toBe('none');
    const missing = { type: 'filter-missing', filter: 'late', method: 'Late.find' };
    expect(events).toEqual([missing, missing]);
    service.register(new TestFilter('late'));
    expect(await late.find('none')).toBeNull();
    expect(events).toHaveLength(2);
  });
});
