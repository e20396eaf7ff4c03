import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  BloomConfigError,
  type BloomFeature,
  type BloomIdSource,
  BloomModule,
  BloomService,
  fromPages,
  inParallel,
  uuid,
} from 'nestjs-bloom';
import { packableIds } from '../../src/rebuild/index.js';
import type { BloomId } from '../../src/filter/index.js';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { readAll } from '../support/read-source.js';

const of = (...batches: (BloomId | readonly BloomId[])[]): BloomIdSource => ({
  async *ids() {
    yield* batches;
  },
});

async function made(...sources: Parameters<typeof inParallel>[0]): Promise<BloomIdSource> {
  return inParallel(sources).useFactory();
}

/** A source that gives one id and then waits until it is stopped. */
function waiting(id: BloomId) {
  const seen: unknown[] = [];
  const source: BloomIdSource = {
    async *ids({ signal }) {
      try {
        yield id;
        signal.throwIfAborted();
        await new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        );
      } finally {
        seen.push(signal.aborted);
      }
    },
  };
  return { source, seen };
}

describe('inParallel', () => {
  it('reads every id of every source', async () => {
    const source = await made(of([1, 2], 3), of(), of('four', ['five'], [6n]), of(new Uint8Array([7])));
    const ids = await readAll(source);
    expect(ids).toHaveLength(7);
    expect(new Set(ids)).toEqual(new Set([1, 2, 3, 'four', 'five', 6n, new Uint8Array([7])]));
  });

  it('reads them at the same time', async () => {
    let meet!: () => void;
    const met = new Promise<void>((resolve) => (meet = resolve));
    const first: BloomIdSource = {
      async *ids() {
        await met;
        yield 1;
      },
    };
    const second: BloomIdSource = {
      async *ids() {
        meet();
        yield 2;
      },
    };
    expect((await readAll(await made(first, second))).toSorted()).toEqual([1, 2]);
  });

  it('reads from the columns of all sources, and says nothing where one does not name its own', async () => {
    const of = (readsFrom?: string): BloomIdSource => ({ async *ids() {}, ...(readsFrom && { readsFrom }) });
    const shards = await made(of('products.id'), of('products.id'));
    expect(shards.readsFrom).toBe('products.id');
    const tables = await made(of('products.id'), of('items.id'));
    expect(tables.readsFrom).toBe('items.id, products.id');
    expect((await made(of('products.id'), of())).readsFrom).toBeUndefined();
    const many = Array.from({ length: 50 }, (_, i) => of(`products_${i}.id`));
    expect((await made(...many)).readsFrom).toMatch(/^50 columns \([\da-f]{16}\)$/);
    expect((await made(...many.toReversed())).readsFrom).toBe((await made(...many)).readsFrom);
  });

  it('takes an id that is written into the memory of the one before', async () => {
    const reused = (...values: number[]): BloomIdSource => ({
      async *ids() {
        const bytes = new Uint8Array(1);
        for (const value of values) {
          bytes[0] = value;
          yield bytes;
        }
      },
    });
    const read: number[] = [];
    const source = await made(reused(1, 2, 3), reused(4, 5));
    for await (const id of source.ids({ signal: new AbortController().signal }))
      read.push((id as Uint8Array)[0]!);
    expect(read.toSorted()).toEqual([1, 2, 3, 4, 5]);
  });

  it('fails with the first that fails, and stops the others', async () => {
    const one = waiting('one');
    const failing: BloomIdSource = {
      async *ids() {
        yield 'two';
        throw new Error('no table');
      },
    };
    await expect(readAll(await made(one.source, failing))).rejects.toThrow('no table');
    await eventually('the other has ended', () => one.seen.join() === 'true');
  });

  it('fails when one cannot begin, and stops the others', async () => {
    const signals: AbortSignal[] = [];
    const begun: BloomIdSource = { ids: ({ signal }) => (signals.push(signal), of(1).ids({ signal })) };
    const broken: BloomIdSource = {
      ids() {
        throw new Error('not open');
      },
    };
    await expect(made(begun, broken).then(readAll)).rejects.toThrow('not open');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('stops all of them at the signal, and when it is read no further', async () => {
    const [one, two] = [waiting(1), waiting(2)];
    const stopping = new AbortController();
    const source = await made(one.source, two.source);
    const read = async () => {
      for await (const id of source.ids({ signal: stopping.signal }))
        if (id === 2) stopping.abort(new Error('enough'));
    };
    await expect(read()).rejects.toThrow('enough');
    await eventually('both have ended', () => [...one.seen, ...two.seen].join() === 'true,true');

    let signal!: AbortSignal;
    const watched: BloomIdSource = {
      ids: (context) => ((signal = context.signal), of(1, 2, 3).ids(context)),
    };
    for await (const _ of (await made(watched)).ids({ signal: new AbortController().signal })) break;
    expect(signal.aborted).toBe(true);
  });

  it('sums up counts, where each has one', async () => {
    const counted = (count: number | undefined): BloomIdSource => ({ ...of(), count: async () => count });
    expect(await (await made(counted(2), counted(3))).count!()).toBe(5);
    expect(await (await made(counted(2), counted(undefined))).count!()).toBe(undefined);
    expect((await made(counted(2), of())).count).toBeUndefined();
  });

  it('makes sources of providers, each of its own', async () => {
    const factory = inParallel([
      { inject: ['A', 'B'], useFactory: (a: string, b: string) => of(a, b) },
      of('own'),
      { inject: ['C'], useFactory: async (c: string) => of(c) },
      { useFactory: () => of('none') },
    ]);
    expect(factory.inject).toEqual(['A', 'B', 'C']);
    const source = await factory.useFactory('a', 'b', 'c');
    expect((await readAll(source)).toSorted()).toEqual(['a', 'b', 'c', 'none', 'own']);
  });

  it('reads packed ids of all as one', async () => {
    const packed = (text: string): BloomIdSource => ({
      ids: () =>
        packableIds(async function* () {
          const bytes = new TextEncoder().encode(text);
          yield { bytes, ends: Uint32Array.of(bytes.length), count: 1, areText: true };
        }, undefined),
    });
    expect((await readAll(await made(packed('a'), packed('b')))).toSorted()).toEqual(['a', 'b']);
    expect((await readAll(await made(packed('a'), of('c')))).toSorted()).toEqual(['a', 'c']);
  });

  it('refuses sources that spell ids differently', async () => {
    const spelled: BloomIdSource = {
      ...of(),
      spelling: { column: 'a.id is of type uuid', name: 'uuid', normalize: uuid },
    };
    expect((await made(spelled, spelled)).spelling?.name).toBe('uuid');
    await expect(made(spelled, of())).rejects.toThrow(
      'got one whose a.id is of type uuid, and one whose ids have one spelling',
    );
  });

  it.each([[[]], [undefined], [[{}]], [[undefined]], [[async () => []]]])('refuses %p', (sources) => {
    expect(() => inParallel(sources as never)).toThrow(BloomConfigError);
  });

  it('refuses a factory that makes no source', async () => {
    await expect(
      made(
        fromPages(() => []),
        { useFactory: () => ({}) as never },
      ),
    ).rejects.toThrow('inParallel: expected sources');
  });
});

describe('New rows of several sources', () => {
  const newRows: BloomIdSource = {
    ...of('never read by a rebuild'),
    async *idsSince(mark) {
      yield { ids: [`after ${String(mark)}`], mark: 8 };
    },
    newest: async () => 8,
  };

  it('are read by the source that is named for it', async () => {
    const factory = inParallel([of('a'), of('b')], {
      newRows: { inject: ['N'], useFactory: (n: string) => ({ ...newRows, newest: async () => n }) },
    });
    expect(factory.inject).toEqual(['N']);
    const source = await factory.useFactory('newest');
    expect((await readAll(source)).toSorted()).toEqual(['a', 'b']);
    expect(await source.newest!()).toBe('newest');
    const found: unknown[] = [];
    for await (const batch of source.idsSince!(7, { signal: new AbortController().signal }))
      found.push(batch);
    expect(found).toEqual([{ ids: ['after 7'], mark: 8 }]);
  });

  it('are not settled by the open transactions of one source of several', async () => {
    const tells = { ...newRows, openTransactions: async () => ({ server: '1', oldest: 1n, next: 1n }) };
    const source = await inParallel([of('a'), of('b')], { newRows: tells }).useFactory();
    expect(source.openTransactions).toBeUndefined();
  });

  it('have no order because those of one source have: each shard may count for itself', async () => {
    const ordered = { ...newRows, idOrder: 'integer' } as const;
    const silent = await inParallel([of('a'), of('b')], { newRows: ordered }).useFactory();
    expect(silent.idOrder).toEqual({ reason: expect.stringContaining('idOrder of inParallel') });
    const said = await inParallel([of('a')], { newRows: ordered, idOrder: 'integer' }).useFactory();
    expect(said.idOrder).toBe('integer');
  });

  it('are refused of a source without idsSince, and of one that spells ids differently', async () => {
    await expect(inParallel([of('a')], { newRows: of('b') }).useFactory()).rejects.toThrow('with idsSince');
    const spelling = { column: 'a.id is of type uuid', name: 'uuid', normalize: uuid };
    const other = inParallel([of('a')], { newRows: { ...newRows, spelling } });
    await expect(other.useFactory()).rejects.toThrow('to spell ids alike');
  });
});

describe('An array as the source of a filter', () => {
  @Injectable()
  class Cellar implements BloomIdSource {
    async *ids() {
      yield 'c';
    }
  }

  async function start(source: BloomFeature['source']) {
    const module = await startContext({
      imports: [
        BloomModule.forRoot({ logger: false }),
        BloomModule.forFeature([{ name: 'products', capacity: 100, source: source! }]),
      ],
      providers: [Cellar],
    });
    return module;
  }

  it('is read as one: objects, factories and classes of providers', async () => {
    const module = await start([of('a'), { useFactory: () => of('b') }, Cellar]);
    try {
      const filter = module.get(BloomService).filter('products');
      await filter.rebuild({ join: true });
      expect(await filter.checkMany(['a', 'b', 'c', 'd'])).toEqual(['maybe', 'maybe', 'maybe', 'absent']);
    } finally {
      await module.close();
    }
  });

  it.each([[[]], [[{ idz: () => [] }]], [[of('a'), undefined]]])('does not start with %p', async (source) => {
    await expect(start(source as never)).rejects.toThrow(BloomConfigError);
  });
});
