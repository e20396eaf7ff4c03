import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  concatWith,
  defer,
  firstValueFrom,
  lastValueFrom,
  NEVER,
  type Observable,
  of,
  throwError,
} from 'rxjs';
import { type BloomEvent, BloomUnavailableError } from '../../src/common/index.js';
import { BloomRegisters, type BloomRegistersOptions } from '../../src/guard/index.js';
import { GuardedProviders } from './support/guarded-providers.js';
import type { TestFilter } from './support/test-filter.js';

const down = new BloomUnavailableError('The store is down.');
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('@BloomRegisters and rows that become visible late', () => {
  let app: GuardedProviders;
  let products: TestFilter;
  let events: BloomEvent[];

  beforeEach(() => {
    app = new GuardedProviders();
    ({ products, events } = app);
  });

  afterEach(() => app.close());

  /** Calls a method that does this between the add and its end. */
  async function create(work: () => Promise<unknown>, options: BloomRegistersOptions = {}) {
    @Injectable()
    class Repository {
      @BloomRegisters('products', options)
      async create(_sku: string) {
        return work();
      }
    }
    return (await app.start([Repository])).get(Repository).create('a');
  }

  it('adds once where the method was fast and the generation is the same', async () => {
    expect(await create(async () => 'created')).toBe('created');
    expect(products.addCalls).toEqual([['a']]);
  });

  it('adds again before it returns where the method took half of drainMs', async () => {
    products.drainMs = 40;
    expect(await create(() => pause(30).then(() => 'created'))).toBe('created');
    expect(products.addCalls).toEqual([['a'], ['a']]);
  });

  it('counts from before the add: the add may be what took long', async () => {
    products.drainMs = 40;
    const addKeys = products.addKeys.bind(products);
    products.addKeys = async (ids) => {
      const added = await addKeys(ids);
      await pause(30);
      return added;
    };
    await create(async () => {});
    expect(products.addCalls).toHaveLength(2);
  });

  it.each<[string, string | undefined, string | undefined]>([
    ['another generation went live', 'first', 'second'],
    ['the filter went offline', 'first', undefined],
    ['it is not known which one it was', undefined, 'first'],
    ['it is not known at all', undefined, undefined],
  ])('adds again where %s', async (_case, before, after) => {
    products.generation = before;
    await create(async () => {
      products.generation = after;
    });
    expect(products.addCalls).toHaveLength(2);
  });

  it('adds again where another generation went live during the add', async () => {
    const addKeys = products.addKeys.bind(products);
    products.addKeys = async (ids) => {
      const added = await addKeys(ids);
      products.generation = 'second';
      return added;
    };
    await create(async () => {});
    expect(products.addCalls).toHaveLength(2);
  });

  it.each([
    ['completed', of('created')],
    ['failed', throwError(() => new Error('The connection was lost after COMMIT.'))],
  ])('adds again when a stream has %s that the method returned', async (_end, end) => {
    const stream = (await create(async () =>
      defer(() => {
        products.generation = 'second';
        return end;
      }),
    )) as Observable<string>;
    expect(products.addCalls).toHaveLength(1);
    await lastValueFrom(stream).then(
      (value) => expect(value).toBe('created'),
      (error: Error) => expect(error.message).toContain('after COMMIT'),
    );
    expect(products.addCalls).toEqual([['a'], ['a']]);
  });

  it('adds again before the first value of a stream, after which its caller may stop', async () => {
    const stream = (await create(async () =>
      defer(async () => {
        products.generation = 'second';
        return 'created';
      }).pipe(concatWith(NEVER)),
    )) as Observable<string>;
    expect(await firstValueFrom(stream)).toBe('created');
    expect(products.addCalls).toEqual([['a'], ['a']]);
  });

  it('adds again when the caller stops before the stream has ended', async () => {
    const stream = (await create(async () => NEVER)) as Observable<string>;
    const subscription = stream.subscribe();
    products.generation = 'second';
    expect(products.addCalls).toHaveLength(1);
    subscription.unsubscribe();
    await new Promise(setImmediate);
    expect(products.addCalls).toEqual([['a'], ['a']]);
  });

  it('adds no more where the stream was fast, however it ends', async () => {
    const stream = (await create(async () => of('created', 'and more'))) as Observable<string>;
    const values: string[] = [];
    await stream.forEach((value) => void values.push(value));
    expect(values).toEqual(['created', 'and more']);
    expect(await firstValueFrom(stream)).toBe('created');
    expect(products.addCalls).toEqual([['a']]);
  });

  it('adds again where the method failed: it may have committed before', async () => {
    const failure = new Error('The connection was lost after COMMIT.');
    const failing = create(async () => {
      products.generation = 'second';
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    expect(products.addCalls).toHaveLength(2);
  });

  it.each(['throw', 'queue'] as const)(
    'resolves with onError %p when the second add fails, queues it and tells it: the method has run',
    async (onError) => {
      const created = await create(
        async () => {
          products.generation = 'second';
          products.addError = down;
          return 'created';
        },
        { onError },
      );
      expect(created).toBe('created');
      expect(events).toEqual([{ type: 'add-queued', filter: 'products', queued: 1, error: down }]);
      products.addError = undefined;
      await app.close();
      expect(products.addCalls.at(-1)).toEqual(['a']);
    },
  );

  it('lets the error of the method through when the second add fails as well', async () => {
    const failure = new Error('unique key');
    const failing = create(async () => {
      products.generation = 'second';
      products.addError = down;
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    expect(events.map(({ type }) => type)).toEqual(['add-queued']);
    products.addError = undefined;
  });

  it('leaves to the queue what waits there', async () => {
    products.addError = down;
    products.generation = undefined;
    await create(async () => {}, { onError: 'queue' });
    expect(products.addCalls).toHaveLength(1);
    products.addError = undefined;
  });

  it('adds once where the id comes from the result', async () => {
    products.drainMs = 0;
    await create(() => pause(10).then(() => 'created'), { from: 'result' });
    expect(products.addCalls).toEqual([['created']]);
  });
});
