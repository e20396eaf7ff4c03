import { Controller, Get, Injectable, Logger, Param, UseInterceptors } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  BloomConfigError,
  BloomGuarded,
  BloomGuardedMany,
  BloomInterceptor,
  BloomRegisters,
  SkipBloom,
} from '../../src/index.js';
import { PLATFORMS } from '../support/nest-app.js';
import { GuardedProviders } from './support/guarded-providers.js';
import { GuardedRoutes, NOT_FOUND } from './support/guarded-routes.js';

@Injectable()
class Products {
  @BloomGuarded('products')
  async find(id: string): Promise<string | null> {
    return id;
  }

  @BloomGuarded(() => 'products')
  async get(id: string): Promise<string | null> {
    return id;
  }

  @BloomGuardedMany('products')
  async findMany(ids: string[]): Promise<string[]> {
    return ids;
  }

  @BloomRegisters('products')
  async create(id: string) {
    return id;
  }
}

@Injectable()
class AdminProducts extends Products {
  @SkipBloom()
  override async find(id: string) {
    return super.find(id);
  }

  @SkipBloom()
  override async findMany(ids: string[]) {
    return super.findMany(ids);
  }
}

@Injectable()
@SkipBloom()
class AllProducts extends Products {
  @SkipBloom(false)
  override async get(id: string) {
    return super.get(id);
  }
}

@Injectable()
class ChildProducts extends AllProducts {}

let app: GuardedProviders;
let warn: jest.SpiedFunction<Logger['warn']>;
beforeEach(() => {
  app = new GuardedProviders(['A-1']);
  warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
});
afterEach(async () => {
  jest.restoreAllMocks();
  await app.close();
});

describe('@SkipBloom', () => {
  it('leaves methods that override guarded ones to themselves, and whole classes', async () => {
    const module = await app.start([Products, AdminProducts, AllProducts, ChildProducts]);
    const asked = async (type: typeof Products) => {
      const products = module.get(type);
      return [await products.find('x'), await products.get('x'), await products.findMany(['x'])];
    };
    for (let i = 0; i < 2; i++) {
      expect(await asked(Products)).toEqual([null, null, []]);
      expect(await asked(AdminProducts)).toEqual(['x', null, ['x']]);
      expect(await asked(AllProducts)).toEqual(['x', null, ['x']]);
      expect(await asked(ChildProducts)).toEqual(['x', null, ['x']]);
    }
    expect(warn).not.toHaveBeenCalled();
    await module.get(AllProducts).create('x');
    expect(await module.get(Products).find('x')).toBe('x');
  });

  it('is an error at start beside a guard', async () => {
    @Injectable()
    class Both extends Products {
      @SkipBloom()
      @BloomGuarded('products')
      override async find(_id: string): Promise<string | null> {
        return null;
      }

      @BloomGuardedMany('products')
      @SkipBloom()
      override async findMany(_ids: string[]): Promise<string[]> {
        return [];
      }
    }
    await expect(app.start([Both])).rejects.toThrow(
      new BloomConfigError(
        "@SkipBloom() and @BloomGuarded('products') on Both.find contradict each other. Remove one of them.\n" +
          "@SkipBloom() and @BloomGuardedMany('products') on Both.findMany contradict each other. Remove one of them.",
      ),
    );
  });

  it('is warned of at start where it skips nothing', async () => {
    @Injectable()
    class Nothing extends Products {
      @SkipBloom()
      async other(id: string) {
        return id;
      }

      @SkipBloom()
      override async create(id: string) {
        return id;
      }
    }
    @Injectable()
    @SkipBloom()
    class Unguarded {}
    await app.start([Nothing, Unguarded]);
    expect(warn.mock.calls.map(([text]) => String(text).split(' skips nothing')[0])).toEqual([
      'BLOOM_SKIPS_NOTHING: @SkipBloom() on Nothing.other',
      'BLOOM_SKIPS_NOTHING: @SkipBloom() on Nothing.create',
      'BLOOM_SKIPS_NOTHING: @SkipBloom() on Unguarded',
    ]);
  });
});

describe.each(PLATFORMS)('@SkipBloom on %s', (platform) => {
  it('leaves a route alone that the controller guards by an interceptor', async () => {
    @UseInterceptors(BloomInterceptor)
    class Base {
      @Get(':id')
      @BloomGuarded('products')
      async find(@Param('id') id: string) {
        return { id };
      }
    }
    @Controller('guarded')
    class Guarded extends Base {}
    @Controller('method')
    class OfMethod extends Base {
      @Get(':id')
      @SkipBloom()
      override async find(@Param('id') id: string) {
        return super.find(id);
      }
    }
    @Controller('class')
    @SkipBloom()
    class OfClass extends Base {}
    const routes = new GuardedRoutes(platform);
    try {
      const { get } = await routes.start([Guarded, OfMethod, OfClass]);
      expect(await get('/guarded/x')).toEqual(NOT_FOUND);
      for (const path of ['/method/x', '/class/x'])
        expect(await get(path)).toEqual({ status: 200, body: { id: 'x' } });
      expect(routes.products.checked).toEqual(['x']);
    } finally {
      await routes.close();
    }
  });
});
