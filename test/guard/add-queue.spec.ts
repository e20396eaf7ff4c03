import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type BloomEvent, BloomIdError, BloomUnavailableError, systemClock } from '../../src/common/index.js';
import type { BloomId } from '../../src/filter/index.js';
import { AddQueue, type AddQueueLimits } from '../../src/guard/add-queue.js';
import { defineFilter, ManagedFilter } from '../../src/service/index.js';
import { MemoryStore } from '../../src/store/memory/index.js';
import { eventually } from '../support/eventually.js';
import { TestFilter } from './support/test-filter.js';

const down = new BloomUnavailableError('The store is down.');

let filter: TestFilter;
let events: BloomEvent[];
let queue: AddQueue;

function newQueue(limits: AddQueueLimits = {}): AddQueue {
  return new AddQueue({
    filter,
    emit: (event) => events.push(event),
    limits: { minRetryMs: 5, maxRetryMs: 40, ...limits },
  });
}

beforeEach(() => {
  filter = new TestFilter('products');
  filter.addError = down;
  events = [];
  queue = newQueue();
});

afterEach(async () => {
  filter.addError = undefined;
  await queue.close();
  jest.restoreAllMocks();
});

const keysOf = (ids: readonly BloomId[]) => ids.map((id) => filter.keys.ofAdded(id));
const noteOf = (id: BloomId) => filter.keys.digestOf(filter.keys.of(id))!;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const until = (condition: () => boolean) => eventually('the queue has gone on', condition);

describe('AddQueue', () => {
  it('keeps an id, in any spelling, until it is recorded', async () => {
    queue.put(keysOf([17, 'ü', 2n ** 70n]), down);
    for (const id of [
      17,
      17n,
      '17',
      new Uint8Array([0x31, 0x37]),
      'ü',
      Buffer.from('ü'),
      String(2n ** 70n),
    ]) {
      expect(queue.has(noteOf(id))).toBe(true);
    }
    for (const other of [18, 'u']) expect(queue.has(noteOf(other))).toBe(false);
    filter.addError = undefined;
    await until(() => !queue.has('17'));
    expect(await filter.checkMany([17, 'ü', 2n ** 70n])).toEqual(['maybe', 'maybe', 'maybe']);
    const { length } = filter.addCalls;
    await pause(60);
    expect(filter.addCalls).toHaveLength(length);
  });

  it.each<[string, () => void]>([
    ['put', () => queue.put(['a'], down)],
    ['put off', () => void expect(queue.putOff(['a'])).toBe(true)],
  ])(
    'records an id once more that was %s during an attempt, which may have been too early',
    async (_, again) => {
      queue.put(['a'], down);
      filter.addError = undefined;
      const addKeys = filter.addKeys.bind(filter);
      let answer: (() => void) | undefined;
      filter.addKeys = async (ids) => {
        const added = await addKeys(ids);
        await new Promise<void>((resolve) => (answer = resolve));
        return added;
      };
      await until(() => answer !== undefined);
      again();
      filter.addKeys = addKeys;
      const before = filter.addCalls.length;
      answer!();
      await until(() => !queue.has('a'));
      expect(filter.addCalls.slice(before)).toEqual([['a']]);
      expect(queue.putOff(['a'])).toBe(false);
    },
  );

  it('knows an id in every form that normalize makes one', async () => {
    const managed = new ManagedFilter(
      defineFilter({ name: 'products', capacity: 100, normalize: (id) => String(id).toLowerCase() }),
      { store: new MemoryStore(), emit: () => {}, clock: systemClock },
    );
    const normalizing = new AddQueue({ filter: managed, emit: () => {} });
    normalizing.put([managed.keys.ofAdded('ABC')], down);
    const waits = (id: string) => normalizing.has(managed.keys.digestOf(managed.keys.of(id))!);
    expect(['abc', 'Abc', 'abd'].map(waits)).toEqual([true, true, false]);
    await normalizing.close();
    await managed.close();
  });

  it('still keeps an id while a retry of it is under way', async () => {
    queue.put(['a'], down);
    filter.addError = undefined;
    const kept: boolean[] = [];
    const addKeys = filter.addKeys.bind(filter);
    filter.addKeys = async (ids) => {
      const added = await addKeys(ids);
      kept.push(queue.has('a'));
      return added;
    };
    await until(() => kept.length === 1);
    expect(kept).toEqual([true]);
    await until(() => !queue.has('a'));
  });

  it('waits longer after each failure, up to its limit, and tells each', async () => {
    // Only the queue sets timers meanwhile.
    const timers = jest.spyOn(globalThis, 'setTimeout');
    let attempts = 0;
    const failed = new Promise<void>((resolve) => {
      filter.addKeys = async () => {
        if (++attempts === 6) resolve();
        throw down;
      };
    });
    queue.put(['a'], down);
    await failed;
    expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([5, 10, 20, 40, 40, 40]);
    timers.mockRestore();
    await until(() => events.length >= 7);
    expect(events[6]).toEqual({ type: 'add-queued', filter: 'products', queued: 1, error: down });
    filter.addKeys = async (ids) => ids.map(() => true);
  });

  it('refuses what does not fit, keeping none of it, and takes an id that waits already', async () => {
    queue = newQueue({ ids: 3, minRetryMs: 10_000 });
    queue.put(['a', 'b'], down);
    expect(() => queue.put(['c', 'd'], down)).toThrow(BloomUnavailableError);
    expect(queue.has('c')).toBe(false);
    queue.put(['c', 'a', 'c'], down);
    expect(queue.has('c')).toBe(true);
    expect(events.map((event) => event.type === 'add-queued' && event.queued)).toEqual([2, 3]);
  });

  it('holds 10,000 ids and records them in batches', async () => {
    queue = new AddQueue({ filter, emit: () => {}, limits: { minRetryMs: 5 } });
    queue.put(keysOf(Array.from({ length: 10_000 }, (_, i) => i)), down);
    expect(() => queue.put(keysOf([10_000]), down)).toThrow('at most 10,000 ids');
    filter.addError = undefined;
    await until(() => !queue.has('9999'));
    expect(Math.max(...filter.addCalls.map((ids) => ids.length))).toBe(1000);
    expect((await filter.checkMany([0, 5000, 9999])).every((verdict) => verdict === 'maybe')).toBe(true);
  });

  it('drops an id that the store finds too long, and records the others', async () => {
    const tooLong = new BloomIdError('too long');
    const recorded: unknown[] = [];
    filter.addKeys = async (ids) => {
      if (ids.includes('long')) throw tooLong;
      recorded.push(...ids);
      return ids.map(() => true);
    };
    queue.put(['a', 'long', 'b'], down);
    await until(() => !queue.has('b'));
    expect(recorded).toEqual(['a', 'b']);
    expect(queue.has('long')).toBe(false);
    expect(events.at(-1)).toEqual({
      type: 'store-error',
      filter: 'products',
      operation: 'add',
      error: tooLong,
    });
  });

  it('tries once more when it closes, says how many ids it lost, and is silent after that', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
    queue.put(['a', 'b'], down);
    await queue.close();
    expect(logged).toHaveBeenCalledTimes(1);
    expect(logged.mock.calls[0]![0]).toMatch(
      /^BLOOM_IDS_LOST: The shutdown came before 2 ids could be recorded in filter 'products'\..* https:\S+#bloom_ids_lost$/,
    );
    const { length } = filter.addCalls;
    await pause(60);
    expect(filter.addCalls).toHaveLength(length);
  });

  it('waits for the retry under way when it closes', async () => {
    let release = () => {};
    let calls = 0;
    const recorded: unknown[] = [];
    filter.addKeys = async (ids) => {
      calls++;
      await new Promise<void>((resolve) => (release = resolve));
      recorded.push(...ids);
      return ids.map(() => true);
    };
    queue.put(['a'], down);
    await until(() => calls === 1);
    let closed = false;
    const closing = queue.close().then(() => (closed = true));
    await pause(5);
    expect({ closed, calls }).toEqual({ closed: false, calls: 1 });
    release();
    await closing;
    expect(recorded).toEqual(['a']);
  });

  it('does not keep the process alive', async () => {
    const timer = jest.spyOn(globalThis, 'setTimeout');
    queue = newQueue({ minRetryMs: 10_000 });
    queue.put(['a'], down);
    expect((timer.mock.results.at(-1)!.value as NodeJS.Timeout).hasRef()).toBe(false);
  });
});
