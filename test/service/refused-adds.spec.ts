import { afterEach, describe, expect, it } from '@jest/globals';
import { BloomIdError, BloomUnavailableError, systemClock } from '../../src/common/index.js';
import { type BloomId, idNote } from '../../src/filter/index.js';
import { AddQueue } from '../../src/guard/add-queue.js';
import { type BloomFilterOptions, defineFilter, ManagedFilter } from '../../src/service/index.js';
import { RecentAdds } from '../../src/service/negative-cache.js';
import { MemoryStore } from '../../src/store/memory/index.js';
import { leastCpuMsOf } from '../support/cpu-time.js';
import { heapBytes } from '../support/heap-bytes.js';

const down = new BloomUnavailableError('The store is down.');

describe('Ids that are refused', () => {
  let filter: ManagedFilter;

  function open(options: Partial<BloomFilterOptions> = {}): ManagedFilter {
    const definition = defineFilter({
      name: 'products',
      capacity: 1000,
      negativeCache: true,
      create: 'first-start',
      ...options,
    });
    filter = new ManagedFilter(definition, { store: new MemoryStore(), emit: () => {}, clock: systemClock });
    return filter;
  }

  const noteOf = (id: BloomId) => filter.keys.digestOf(filter.keys.of(id));

  afterEach(() => filter.close());

  it('take milliseconds, and leave nothing, when they are too long and all of one length', async () => {
    open();
    const refuse = async (tail: string) => {
      for (let i = 0; i < 1200; i++)
        await expect(filter.add(`${1_000_000 + i}${tail}`)).rejects.toThrow(BloomIdError);
    };
    const short = await leastCpuMsOf(() => refuse('x'.repeat(2000)));
    const long = await leastCpuMsOf(() => refuse('x'.repeat(100_000)));
    // Fifty times as long where each is hashed or copied.
    expect(long).toBeLessThan(10 * short + 100);
    expect(filter.guarding.recentAdds.size).toBe(0);
  });

  it('take milliseconds when they are bigints with far too many digits', async () => {
    open();
    await expect(filter.add(10n ** 1024n)).rejects.toThrow(BloomIdError);
    await expect(filter.add(-(10n ** 1023n))).rejects.toThrow(BloomIdError);
    expect(await filter.addMany([10n ** 1024n - 1n, -(10n ** 1022n)])).toEqual([true, true]);
    expect(await filter.checkMany([`${10n ** 1024n - 1n}`, `${-(10n ** 1022n)}`])).toEqual([
      'maybe',
      'maybe',
    ]);
    // Below and above the longest id that any filter may have.
    for (const digits of [60_000n, 100_000n]) {
      const long = 10n ** digits;
      const writingMs = await leastCpuMsOf(() => String(long));
      const refusingMs = await leastCpuMsOf(async () => {
        for (let i = 0; i < 200; i++)
          await expect(filter.add(long + BigInt(i))).rejects.toThrow(BloomIdError);
      });
      // A share of the time that the decimal texts alone would take.
      expect(refusingMs).toBeLessThan((200 * writingMs) / 3);
    }
    expect(filter.guarding.recentAdds.size).toBe(2);
  });

  it('take no time in lookups, in the notes of denials, and in the queue either', async () => {
    open({ maxIdBytes: 65_536 });
    await filter.add('present');
    const queue = new AddQueue({ filter, emit: () => {}, limits: { minRetryMs: 60_000 } });
    queue.put(['waiting'], down);
    filter.guarding.negativeCache!.remember('denied', 'find', performance.now());
    const lookUp = async (bytes: number) => {
      for (let i = 0; i < 300; i++) {
        const id = `${1_000_000 + i}${'y'.repeat(bytes)}`;
        expect(noteOf(id) === undefined).toBe(bytes > 65_536);
        expect(await filter.check(id)).toBe('absent');
      }
    };
    const hashed = await leastCpuMsOf(() => lookUp(60_000));
    expect(await leastCpuMsOf(() => lookUp(100_000))).toBeLessThan(hashed / 2);
    await queue.close();
  });

  it('are compared by digests where they are long and may be added', async () => {
    open({ maxIdBytes: 65_536 });
    const ids = Array.from({ length: 500 }, (_, i) => `${1_000_000 + i}${'z'.repeat(60_000)}`);
    for (const id of ids) {
      expect(noteOf(id)).toHaveLength(65);
      expect(noteOf(Buffer.from(id))).toBe(noteOf(id));
    }
    expect(new Set(ids.map(noteOf)).size).toBe(ids.length);
  });

  it('hold no memory of the longer text that a shorter one was cut from', async () => {
    open({ normalize: (id) => String(id).slice(0, 30) });
    const queue = new AddQueue({ filter, emit: () => {}, limits: { minRetryMs: 60_000 } });
    const before = heapBytes();
    for (let i = 0; i < 1000; i++) {
      const body = `${i}-${'s'.repeat(50)}${String.fromCharCode(0x61 + (i % 26)).repeat(100_000)}`;
      await filter.add(body);
      queue.put([filter.keys.ofAdded(body.slice(0, 40))], down);
      filter.guarding.negativeCache!.remember(noteOf(body)!, 'find', performance.now());
    }
    expect(filter.guarding.recentAdds.size).toBeGreaterThanOrEqual(1000);
    expect(heapBytes() - before).toBeLessThan(30e6);
    await queue.close();
  });
});

describe('A note of an id', () => {
  it('is its text as long as that is short, and else one of 65 characters, for bytes as for text', () => {
    expect(idNote('a'.repeat(64))).toBe('a'.repeat(64));
    expect(idNote('a'.repeat(65))).toMatch(/^#[0-9a-f]{64}$/);
    expect(idNote('ü'.repeat(32))).toBe(idNote(Buffer.from('ü'.repeat(32))));
    expect(idNote('ü'.repeat(40))).toBe(idNote(Buffer.from('ü'.repeat(40))));
    expect(idNote('ü'.repeat(40))).toHaveLength(65);
  });
});

describe('RecentAdds', () => {
  it('knows an id by its last note, in whatever slice of time that is', async () => {
    const adds = new RecentAdds(1);
    const first = performance.now();
    adds.record(['a']);
    await systemClock.sleep(5);
    expect(adds.mayMiss('a', performance.now())).toBe(false);
    expect(adds.mayMiss('a', first)).toBe(true);
    const second = performance.now();
    expect(adds.mayMiss('b', second)).toBe(false);
    adds.record(['a']);
    expect(adds.mayMiss('a', second)).toBe(true);
  });

  it('trusts no read for a while instead of keeping any number of ids', () => {
    const adds = new RecentAdds(60_000);
    adds.record(Array.from({ length: 99_999 }, (_, i) => `${i}`));
    expect(adds.mayMiss('never added', performance.now())).toBe(false);
    adds.record(['x', 'y']);
    expect(adds.size).toBe(0);
    expect(adds.mayMiss('never added', performance.now())).toBe(true);
  });

  it('forgets in constant time: 200,000 notes while as many are dropped', async () => {
    const once = await leastCpuMsOf(() => {
      const plain = new Map<string, number>();
      for (let i = 0; i < 200_000; i++) plain.set(`${i}`, performance.now());
    });
    const all = await leastCpuMsOf(() => {
      const adds = new RecentAdds(0);
      for (let i = 0; i < 200_000; i++) adds.record([`${i}`]);
    });
    expect(all).toBeLessThan(20 * once + 300);
  });
});

describe('The queue of adds', () => {
  it('is bounded in bytes as well', async () => {
    const filter = new ManagedFilter(
      defineFilter({ name: 'products', capacity: 10, maxIdBytes: 10_000, create: 'first-start' }),
      {
        store: new MemoryStore(),
        emit: () => {},
        clock: systemClock,
      },
    );
    const queue = new AddQueue({ filter, emit: () => {}, limits: { bytes: 50_000, minRetryMs: 60_000 } });
    for (const id of ['a', 'b']) queue.put([id.repeat(10_000)], down);
    expect(() => queue.put(['c'.repeat(10_000)], down)).toThrow('at most 10,000 ids and 50,000 bytes');
    expect(queue.has(idNote('c'.repeat(10_000)))).toBe(false);
    queue.put(['a'.repeat(10_000), 'short'], down);
    await queue.close();
    expect(queue.has('short')).toBe(false);
    queue.put(['d'.repeat(10_000), 'e'.repeat(10_000)], down);
    expect(queue.has(idNote('d'.repeat(10_000)))).toBe(true);
    await filter.close();
  });
});
