import { afterEach, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { BloomModule, type BloomModuleOptions, BloomService } from '../../../src/index.js';
import { contractOptions, storeContract } from '../../../src/testing/store/index.js';
import { startContext } from '../../support/nest-app.js';
import { SetFilter, SetStore } from './set-store.js';

describe('A store that somebody else has written', () => {
  const store = new SetStore();
  for (const { name, run } of storeContract(() => store.open(contractOptions()))) it(name, run);
});

/** Faults of a store, and what the contract says of each. */
const BROKEN: Readonly<
  Record<string, [new (options: ReturnType<typeof contractOptions>) => SetFilter, string]>
> = {
  'denies what it does not know yet': [
    class extends SetFilter {
      override checkOne(id: string) {
        return this.live ? super.checkOne(id) : 'absent';
      }
    },
    'lookups are unknown until the filter is built',
  ],
  'loses adds while a generation is staged': [
    class extends SetFilter {
      override async add(ids: readonly string[]) {
        const { staged } = this;
        this.staged = undefined;
        const isNew = await super.add(ids);
        this.staged = staged;
        return isNew;
      }
    },
    'adds are remembered by a generation that is being staged',
  ],
  'records a part of a call that it refuses': [
    class extends SetFilter {
      override async add(ids: readonly string[]) {
        const isNew: boolean[] = [];
        for (const id of ids) isNew.push(...(await super.add([id])));
        return isNew;
      }
    },
    'ids that are too long leave a call of many ids unrecorded, wherever they stand in it',
  ],
  'gives the lease to two': [
    class extends SetFilter {
      override lease(request: Parameters<SetFilter['lease']>[0]) {
        Reflect.set(this, 'isLeased', false);
        return super.lease(request);
      }
    },
    'the lease is held by one at a time',
  ],
  'stays in service when it is distrusted': [
    class extends SetFilter {
      override async distrust() {
        return true;
      }
    },
    'distrust makes every lookup unknown until the next generation, which has the adds of its staging',
  ],
};

describe('The contract of stores', () => {
  it.each(Object.keys(BROKEN))('finds a store that %s', async (fault) => {
    const [Filter, name] = BROKEN[fault]!;
    const broken = storeContract(() => new Filter(contractOptions()));
    const outcomes = await Promise.allSettled(broken.map(({ run }) => run()));
    const failed = broken.filter((_, i) => outcomes[i]!.status === 'rejected');
    expect(failed.map((one) => one.name)).toContain(name);
  });

  it('has a name of its own for each case', () => {
    const names = storeContract(() => new SetFilter(contractOptions())).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(30);
  });
});

describe('BloomModule.forRoot({ store })', () => {
  let context: INestApplicationContext | undefined;
  afterEach(async () => {
    await context?.close();
    context = undefined;
  });

  it('has its filters in that store, and closes it with the application', async () => {
    const store = new SetStore();
    let closed = 0;
    store.close = async () => void closed++;
    const source = {
      async *ids() {
        yield ['a', 'b'];
      },
    };
    const filters = [{ name: 'products', capacity: 10, source, rebuild: { drainMs: 0 } }];
    context = await startContext({ imports: [BloomModule.forRoot({ store, filters, onEvent: () => {} })] });
    const bloom = context.get(BloomService);
    await bloom.whenReady({ timeoutMs: 60_000 });
    const products = bloom.filter('products');
    expect(await products.checkMany(['a', 'c'])).toEqual(['maybe', 'absent']);
    await products.add('c');
    expect(await products.check('c')).toBe('maybe');
    expect(await products.info()).toMatchObject({ store: 'sets', state: 'ready' });
    await context.close();
    context = undefined;
    expect(closed).toBe(1);
  });

  it.each<[string, object, RegExp]>([
    [
      'what is no store',
      { store: { open: () => {} } },
      /expected store to be a store with open\(\), close\(\) and kind, got/,
    ],
    ['a class', { store: SetStore }, /expected store to be a store/],
    [
      'a store beside redis',
      { store: new SetStore(), redis: 'redis://127.0.0.1:1' },
      /no option redis beside store/,
    ],
    ['a store beside timeoutMs', { store: new SetStore(), timeoutMs: 5 }, /no option timeoutMs beside store/],
  ])('refuses %s', async (_given, options, message) => {
    expect(() => BloomModule.forRoot(options as BloomModuleOptions)).toThrow(message);
    await expect(
      startContext({ imports: [BloomModule.forRootAsync({ useFactory: () => options as never })] }),
    ).rejects.toThrow(message);
  });
});
