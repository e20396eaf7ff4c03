import { Injectable, SetMetadata } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  BloomConfigError,
  BloomGuarded,
  BloomGuardedMany,
  BloomModule,
  BloomOverloadError,
} from '../../src/index.js';
import { eventually } from '../support/eventually.js';
import { giveBudget, HeldCalls } from './support/budgeted-filter.js';
import { GuardedProviders } from './support/guarded-providers.js';

class WsException extends Error {
  constructor(readonly error: string | object) {
    super(String(error));
  }
}
class RpcException extends WsException {}
jest.unstable_mockModule('@nestjs/websockets', () => ({ WsException }), { virtual: true });
jest.unstable_mockModule('@nestjs/microservices', () => ({ RpcException }), { virtual: true });

const Message = () => SetMetadata('websockets:message_mapping', true);
const Field = () => SetMetadata('graphql:resolver_type', 'Query');
const Pattern =
  (type: number): MethodDecorator =>
  (target, key, descriptor) => {
    SetMetadata('microservices:pattern', ['find'])(target, key, descriptor);
    SetMetadata('microservices:handler_type', type)(target, key, descriptor);
  };

let calls: HeldCalls;

@Injectable()
class Products {
  @BloomGuarded('products')
  async find(sku: string): Promise<unknown> {
    return calls.hold(sku);
  }

  @BloomGuarded('products', { onUnknown: 'pass' })
  async findAlways(sku: string): Promise<unknown> {
    return calls.hold(sku);
  }

  @BloomGuarded('products')
  async findWithin(sku: string): Promise<unknown> {
    return (await this.find(`${sku}-part`)) ?? this.find(`${sku}-other`);
  }

  @BloomGuardedMany('products')
  async findMany(skus: string[]): Promise<string[]> {
    await calls.hold(skus);
    return skus.filter((sku) => sku.startsWith('A'));
  }

  @BloomGuarded('products', {
    id: (value: string) => {
      if (value === 'broken') throw new TypeError('no text');
      return value;
    },
  })
  async findByFunction(sku: string): Promise<unknown> {
    return calls.hold(sku);
  }

  @Message()
  @BloomGuarded('products')
  async ofSocket(sku: string): Promise<unknown> {
    return calls.hold(sku);
  }

  @Pattern(1)
  @BloomGuarded('products')
  async ofMessage(sku: string): Promise<unknown> {
    return calls.hold(sku);
  }

  @Field()
  @BloomGuarded('products')
  async ofField(sku: string): Promise<unknown> {
    return calls.hold(sku);
  }
}

const overload = expect.objectContaining({ code: 'BLOOM_OVERLOAD', filter: 'products' });
const settled = () => new Promise(setImmediate);

describe('Calls that the filter cannot judge', () => {
  let app: GuardedProviders;
  let products: Products;
  beforeEach(async () => {
    calls = new HeldCalls();
    app = new GuardedProviders(['A-1']);
    products = (await app.start([Products])).get(Products);
    app.products.verdict = 'unknown';
  });
  afterEach(async () => {
    calls.endAll();
    await app.close();
  });

  it('run within the budget, and are refused beyond it', async () => {
    const budget = giveBudget(app.products, { concurrent: 1, queue: 0 });
    const first = products.find('a');
    await eventually('the method runs', () => calls.held.length === 1);
    const error = await products.find('b').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BloomOverloadError);
    expect(error).toMatchObject({
      code: 'BLOOM_OVERLOAD',
      filter: 'products',
      message: 'Service Unavailable',
    });
    expect((error as BloomOverloadError).getStatus()).toBe(503);
    expect((error as Error).stack).toMatch(/BloomOverloadError.*\n.*@BloomGuarded on Products.find$/);
    calls.endAll('row');
    expect(await first).toBe('row');
    expect(budget.metrics()).toMatchObject({ running: 0, passed: 1, refused: 1 });
    expect(app.products.metrics()).toMatchObject({ saved: 1, budget: { passed: 1, refused: 1 } });
  });

  it('give their places back when they end by an error, and run in their turn', async () => {
    giveBudget(app.products, { concurrent: 1, queue: 1, waitMs: 60_000 });
    const first = products.find('a');
    await eventually('the method runs', () => calls.held.length === 1);
    const second = products.find('b');
    await settled();
    await settled();
    await expect(products.find('c')).rejects.toEqual(overload);
    calls.held.shift()!.fail(new RangeError('no connection'));
    await expect(first).rejects.toThrow('no connection');
    await eventually('the next one runs', () => calls.held.length === 1);
    calls.endAll(null);
    expect(await second).toBeNull();
  });

  it('are refused as Nest answers each client', async () => {
    giveBudget(app.products, { concurrent: 1, queue: 0 });
    void products.find('a');
    await eventually('the method runs', () => calls.held.length === 1);
    await expect(products.ofSocket('b')).rejects.toEqual(new WsException('Service Unavailable'));
    await expect(products.ofMessage('b')).rejects.toMatchObject({
      error: { statusCode: 503, message: 'Service Unavailable' },
    });
    await expect(products.ofField('b')).rejects.toEqual(overload);
    expect(calls.ids).toEqual(['a']);
  });

  it('all pass where a guard says so, in shadow mode, and without a budget', async () => {
    giveBudget(app.products, { concurrent: 1, queue: 0 });
    void products.find('a');
    void products.findAlways('b');
    await eventually('both run', () => calls.held.length === 2);
    app.products.guarding.mode = 'shadow';
    void products.find('c');
    await eventually('the next one runs', () => calls.held.length === 3);
    app.products.guarding.mode = 'on';
    app.products.guarding.budget = undefined;
    void products.find('d');
    await eventually('the last one runs', () => calls.held.length === 4);
  });

  it('include those over whose id a function has failed', async () => {
    giveBudget(app.products, { concurrent: 1, queue: 0 });
    void products.findByFunction('broken');
    await eventually('the method runs', () => calls.held.length === 1);
    await expect(products.findByFunction('broken')).rejects.toEqual(overload);
  });

  it('belong to the call that makes them', async () => {
    const budget = giveBudget(app.products, { concurrent: 1, queue: 0 });
    const outer = products.findWithin('a');
    await eventually('the inner method runs', () => calls.ids.includes('a-part'));
    await expect(products.find('b')).rejects.toEqual(overload);
    calls.endAll(null);
    await eventually('the other one runs', () => calls.ids.includes('a-other'));
    calls.endAll('row');
    expect(await outer).toBe('row');
    expect(budget.metrics()).toMatchObject({ running: 0, passed: 1 });
  });

  it('of a list count as one, and tell the ids that they find', async () => {
    const budget = giveBudget(app.products, { concurrent: 1, queue: 0 });
    const many = products.findMany(['A-1', 'b', 'c']);
    await eventually('the method runs', () => calls.held.length === 1);
    await expect(products.findMany(['d'])).rejects.toEqual(overload);
    await expect(products.find('e')).rejects.toEqual(overload);
    calls.endAll();
    expect(await many).toEqual(['A-1']);
    expect(budget.metrics()).toMatchObject({ running: 0, passed: 1, refused: 2 });
  });

  it('are measured by judged lists too, while their methods run', async () => {
    const { load } = giveBudget(app.products, { concurrent: 1, queue: 0 });
    const begun = jest.spyOn(load, 'begin');
    const ended = jest.spyOn(load, 'end');
    app.products.verdict = 'maybe';
    const many = products.findMany(['A-1', 'b']);
    await eventually('the method runs', () => calls.held.length === 1);
    expect([begun.mock.calls.length, ended.mock.calls.length]).toEqual([1, 0]);
    calls.endAll();
    await many;
    expect(ended.mock.calls).toEqual([[begun.mock.results[0]!.value]]);
    const failing = products.findMany(['A-1']);
    await eventually('the method runs', () => calls.held.length === 1);
    calls.held.shift()!.fail(new Error('no connection'));
    await expect(failing).rejects.toThrow('no connection');
    app.products.verdict = 'absent';
    expect(await products.findMany(['c'])).toEqual([]);
    expect([begun.mock.calls.length, ended.mock.calls.length]).toEqual([2, 2]);
  });

  it('are not counted where a row was found before, and an id without a row never becomes a hint', async () => {
    const budget = giveBudget(app.products, { concurrent: 1, queue: 0 });
    app.products.verdict = 'maybe';
    const judged = products.find('A-1');
    await eventually('the method runs', () => calls.held.length === 1);
    calls.endAll('row');
    await judged;
    app.products.verdict = 'unknown';
    for (const [id, result] of [
      ['seen', 'row'],
      ['none', null],
      ['empty', []],
      ['false', false],
    ] as const) {
      const found = products.find(id);
      await eventually('the method runs', () => calls.held.length === 1);
      calls.endAll(result);
      await found;
    }
    const failed = products.find('failed');
    await eventually('the method runs', () => calls.held.length === 1);
    calls.held.shift()!.fail(new Error('no connection'));
    await failed.catch(() => {});
    void products.find('holds the place');
    for (const id of ['none', 'empty', 'false', 'failed', 'holds the place'])
      await expect(products.find(id)).rejects.toEqual(overload);
    for (const id of ['A-1', 'seen']) void products.find(id);
    await eventually('both run', () => calls.held.length === 3);
    expect(budget.metrics()).toMatchObject({ running: 1, hinted: 2 });
  });

  it('are told of when they begin to be refused', async () => {
    giveBudget(app.products, { concurrent: 1, queue: 0 });
    void products.find('a');
    await eventually('the method runs', () => calls.held.length === 1);
    for (let i = 0; i < 10; i++) await products.find('b').catch(() => {});
    expect(app.products.events).toEqual([{ type: 'overload-started', filter: 'products', limit: 1 }]);
  });
});

describe('The numbers of a budget', () => {
  it('are checked at start, and stand in the options of the module alone', () => {
    const root = (onUnknown: object) => () => BloomModule.forRoot({ guard: { onUnknown } });
    expect(root({})).not.toThrow();
    expect(root({ concurrent: 5, queue: 0, waitMs: 1000 })).not.toThrow();
    expect(() => BloomModule.forRoot({ guard: { onUnknown: () => null } })).not.toThrow();
    expect(root({ concurrent: 0 })).toThrow(
      /guard.onUnknown.concurrent to be a number of calls from 1 on, got 0/,
    );
    expect(root({ wait: 1 })).toThrow(/guard.onUnknown.wait.*waitMs/);
    expect(() => BloomModule.forRoot({ guard: { onUnknown: 'refuse' as 'pass' } })).toThrow(
      /guard.onUnknown to be 'pass', 'unavailable', a function or \{ concurrent, queue, waitMs \}/,
    );
    expect(() => BloomGuarded('products', { onUnknown: { concurrent: 1 } as never })({}, 'find', {})).toThrow(
      BloomConfigError,
    );
  });
});
