import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BloomFullError, type BloomId, BloomIdError } from 'nestjs-bloom/filter';
import { cuckoo, type CuckooTarget } from '../../src/index.js';
import { fromHex, named, readVectors, toHex } from './vectors.js';

interface Chunk {
  readonly iter: number;
  readonly hex?: string;
  readonly data?: null;
}
type Info = readonly (number | string)[];

const vectors = readVectors<{
  readonly cuckoo: readonly {
    readonly create: string | null;
    readonly added: readonly string[];
    readonly scandump: readonly Chunk[];
    readonly info: Info;
    readonly probes: readonly (readonly [id: string, count: number])[];
    readonly deleted: readonly (readonly [id: string, del: number])[];
    readonly scandumpAfterDelete: readonly Chunk[];
    readonly infoAfterDelete: Info;
  }[];
  readonly cuckooCommands: readonly { readonly command: readonly string[]; readonly resp2: unknown }[];
}>('redisbloom');

/** `CF.RESERVE key capacity options` as options of ours. */
function demandOf(create: string | null): CuckooTarget {
  if (create === null) return {};
  const [capacity, ...words] = create.split(' ').slice(2);
  const option = (name: string) =>
    words.includes(name) ? Number(words[words.indexOf(name) + 1]) : undefined;
  return {
    capacity: Number(capacity),
    bucketSize: option('BUCKETSIZE'),
    maxIterations: option('MAXITERATIONS'),
    expansion: option('EXPANSION'),
  };
}

function chunksOf(scandump: readonly Chunk[]) {
  return scandump.map(({ iter, hex }) => ({ iterator: iter, data: hex === undefined ? null : fromHex(hex) }));
}

/** The reply of `CF.INFO` in the words of `describe`. */
function stateOf(info: Info) {
  const value = (name: string) => info[info.indexOf(name) + 1];
  return {
    buckets: value('Number of buckets'),
    tables: value('Number of filters'),
    ids: value('Number of items inserted'),
    deletes: value('Number of items deleted'),
    bucketSize: value('Bucket size'),
    expansion: value('Expansion rate'),
    maxIterations: value('Max iterations'),
  };
}

describe('A cuckoo filter', () => {
  it.each(vectors.cuckoo)(
    'has the fingerprints where Redis has: $create',
    ({ create, added, scandump, info, probes, deleted, scandumpAfterDelete, infoAfterDelete }) => {
      const filter = cuckoo.create(demandOf(create));
      const dumpOf = () => filter.write().map(({ iterator, data }) => [iterator, toHex(data)]);
      const recorded = (dump: readonly Chunk[]) => dump.slice(0, -1).map(({ iter, hex }) => [iter, hex]);
      for (const id of added) filter.add(named(id));
      expect(dumpOf()).toEqual(recorded(scandump));
      expect(filter.describe()).toEqual(stateOf(info));
      const read = cuckoo.read(chunksOf(scandump));
      for (const [id, count] of probes) {
        for (const one of [filter, read]) {
          expect(one.mightContain(named(id))).toBe(count > 0);
          expect(one.count(named(id))).toBe(count);
        }
      }
      for (const [id, del] of deleted) {
        expect(filter.remove(named(id))).toBe(del === 1);
        expect(read.remove(named(id))).toBe(del === 1);
      }
      expect(dumpOf()).toEqual(recorded(scandumpAfterDelete));
      expect(filter.describe()).toEqual(stateOf(infoAfterDelete));
      expect(read.write()).toEqual(filter.write());
    },
  );

  it('answers as the commands do', () => {
    const filter = cuckoo.create();
    const single = vectors.cuckooCommands.filter(({ command }) => !command.includes('ITEMS'));
    for (const { command, resp2 } of single) {
      const [name, , ...ids] = command;
      if (name === 'CF.EXISTS') expect(filter.mightContain(ids[0]!)).toBe(resp2 === 1);
      if (name === 'CF.ADDNX') expect(filter.addIfAbsent(ids[0]!)).toBe(resp2 === 1);
      if (name === 'CF.ADD') filter.add(ids[0]!);
      if (name === 'CF.COUNT') expect(filter.count(ids[0]!)).toBe(resp2);
      // On a key that does not exist, Redis replies with an error.
      if (name === 'CF.DEL') expect(filter.remove(ids[0]!)).toBe(false);
    }
    expect(single.map(({ command }) => command[0])).toEqual(
      expect.arrayContaining(['CF.EXISTS', 'CF.ADDNX', 'CF.ADD', 'CF.COUNT', 'CF.DEL']),
    );
  });

  it('tells where an id is', () => {
    const filter = cuckoo.create({ capacity: 64, bucketSize: 4 });
    const layout = cuckoo.layout({ buckets: 16, bucketSize: 4 });
    filter.add('a');
    const slots = filter.write()[1]!.data;
    const at = slots.findIndex((slot) => slot !== 0);
    expect(slots[at]).toBe(layout.fingerprintOf('a'));
    expect(at).toBe(layout.positions('a')[0]! * 4);
    expect(layout.encode('a')).toEqual(Uint8Array.of(0x61));
  });
});

describe('A cuckoo filter that is full', () => {
  it('refuses an id when it does not grow, and is unchanged', () => {
    const filter = cuckoo.create({ capacity: 8, expansion: 0 });
    let added = 0;
    expect(() => {
      for (; added < 9; added++) filter.add(`id-${added}`);
    }).toThrow(BloomFullError);
    expect(added).toBeGreaterThan(2);
    expect(filter.describe().ids).toBe(added);
    for (let i = 0; i < added; i++) expect(filter.mightContain(`id-${i}`)).toBe(true);
  });

  it('refuses an id when it has 32 tables, as Redis does', () => {
    const filter = cuckoo.create({ capacity: 4, bucketSize: 1 });
    let added = 0;
    expect(() => {
      for (; ; added++) filter.add(`id${added + 1}`);
    }).toThrow(/at most 31 tables/);
    expect(added).toBe(125);
    expect(filter.addIfAbsent('id1')).toBe(false);
    expect(() => filter.addIfAbsent('absent-7')).toThrow(BloomFullError);
    expect(filter.remove('id1')).toBe(true);
  });
});

const anyId = fc.oneof(
  fc.integer({ min: 0, max: 40 }).map((i) => `id-${i}`),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.uint8Array({ maxLength: 20 }),
  fc.maxSafeInteger(),
  fc.bigInt(),
);
const anyTarget = fc
  .record({
    room: fc.integer({ min: 0, max: 60 }),
    bucketSize: fc.integer({ min: 1, max: 6 }),
    maxIterations: fc.integer({ min: 1, max: 40 }),
    expansion: fc.constantFrom(1, 2, 3, 4),
  })
  .map(({ room, ...target }) => ({ ...target, capacity: 2 * target.bucketSize + room }));
const operations = fc.array(fc.tuple(fc.constantFrom('add', 'add', 'remove', 'reread'), anyId), {
  maxLength: 150,
});

/** Text of the bytes of an id. */
const keyOf = (id: BloomId) =>
  typeof id === 'object' ? Buffer.from(id).toString('hex') : Buffer.from(String(id)).toString('hex');

describe('A cuckoo filter from which only ids are removed that were added', () => {
  it('never denies an id that was added more often than removed, and counts it as often at least', () => {
    fc.assert(
      fc.property(anyTarget, operations, (target, some) => {
        let filter = cuckoo.create(target);
        const held = new Map<string, { id: BloomId; times: number }>();
        for (const [operation, id] of some) {
          const entry = held.get(keyOf(id)) ?? { id, times: 0 };
          if (operation === 'add') {
            filter.add(id);
            held.set(keyOf(id), { id, times: entry.times + 1 });
          } else if (operation === 'reread') {
            filter = cuckoo.read(filter.write());
          } else if (entry.times > 0) {
            expect(filter.remove(id)).toBe(true);
            held.set(keyOf(id), { id, times: entry.times - 1 });
          }
        }
        let total = 0;
        for (const { id, times } of held.values()) {
          total += times;
          expect(filter.count(id)).toBeGreaterThanOrEqual(times);
          if (times > 0) expect(filter.mightContain(id)).toBe(true);
        }
        expect(filter.describe().ids).toBe(total);
        expect(filter.estimate().ids).toBe(total);
      }),
      { numRuns: 300 },
    );
  });

  it('is empty when all are removed, and of one table', () => {
    fc.assert(
      fc.property(anyTarget, fc.array(anyId, { maxLength: 120 }), (target, ids) => {
        const filter = cuckoo.create(target);
        for (const id of ids) filter.add(id);
        for (const id of ids) expect(filter.remove(id)).toBe(true);
        for (const id of ids) expect(filter.mightContain(id)).toBe(false);
        expect(filter.describe()).toMatchObject({ ids: 0, tables: 1 });
      }),
      { numRuns: 100 },
    );
  });
});

describe('Removing', () => {
  it('an id that is certainly not there is refused, and changes nothing', () => {
    const filter = cuckoo.create({ capacity: 4096 });
    for (let i = 0; i < 500; i++) filter.add(i);
    const before = filter.write();
    for (let i = 500; i < 5000; i++) {
      if (!filter.mightContain(i)) expect(filter.remove(i)).toBe(false);
    }
    expect(filter.write()).toEqual(before);
  });

  it('an id that was never added may remove another: the documented danger', () => {
    const filter = cuckoo.create({ capacity: 4096 });
    for (let i = 0; i < 500; i++) filter.add(i);
    const other = Array.from({ length: 50_000 }, (_, i) => 500 + i).find((id) => filter.mightContain(id))!;
    expect(filter.remove(other)).toBe(true);
    const denied = Array.from({ length: 500 }, (_, i) => i).filter((id) => !filter.mightContain(id));
    expect(denied).toHaveLength(1);
  });

  it('one of two ids that cannot be told apart leaves the other', () => {
    const filter = cuckoo.create({ capacity: 1024 });
    filter.add('a');
    const twin = Array.from({ length: 1_000_000 }, (_, i) => `twin-${i}`).find((id) =>
      filter.mightContain(id),
    )!;
    filter.add(twin);
    expect(filter.remove('a')).toBe(true);
    expect(filter.mightContain(twin)).toBe(true);
    filter.remove(twin);
    expect(filter.mightContain('a')).toBe(false);
  });

  it.each([undefined, null, {}, [], 1.5, NaN, 2 ** 53, true])('%p, which is no id, is an error', (value) => {
    const filter = cuckoo.create();
    for (const method of ['add', 'addIfAbsent', 'mightContain', 'count', 'remove'] as const) {
      expect(() => filter[method](value as BloomId)).toThrow(BloomIdError);
    }
  });
});
