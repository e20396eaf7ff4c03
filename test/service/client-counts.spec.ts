import type { ExecutionContext } from '@nestjs/common';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { BloomEvent } from '../../src/common/index.js';
import { GuardState, NO_AUDIT } from '../../src/service/guard-state.js';
import { ClientCounts } from '../../src/service/client-counts.js';
import { heapBytes } from '../support/heap-bytes.js';

const LIMIT = { limit: 100, forMs: 60_000 };
const state = () => new GuardState({ shadow: false, audit: NO_AUDIT, negativeCache: false, drainMs: 0 });

let now: number;
let events: BloomEvent[];
let guarding: GuardState;
let counts: ClientCounts;

function counting(client: (context: ExecutionContext) => unknown, maxClients = 1_000): ClientCounts {
  const clock = { now: () => now, wall: () => now, sleep: async () => {} };
  const made = new ClientCounts(
    { client: client as never, maxClients },
    (event) => events.push(event),
    clock,
  );
  made.observe('products', guarding);
  return made;
}

/** Absents of a client within a request. */
function ask(client: unknown, times = 1): void {
  counts.run({ client } as never, () => {
    for (let i = 0; i < times; i++) guarding.onAbsent!('Shop.find');
  });
}

beforeEach(() => {
  now = 1_000_000;
  events = [];
  guarding = state();
  counts = counting((context) => (context as never as { client: string }).client);
});

describe('The clients of a filter', () => {
  it('are named the worst first, over this minute and the last one', () => {
    ask('a', 3);
    now += 50_000;
    ask('b', 5);
    now += 20_000;
    ask('a', 1);
    expect(counts.worst('products', 10)).toEqual([
      { client: 'b', absents: 5, error: 0 },
      { client: 'a', absents: 4, error: 0 },
    ]);
    expect(counts.worst('products', 1)).toHaveLength(1);
    expect(counts.worst('unknown', 1)).toEqual([]);
    now += 60_000;
    expect(counts.worst('products', 10)).toEqual([{ client: 'a', absents: 1, error: 0 }]);
    now += 3_600_000;
    expect(counts.worst('products', 10)).toEqual([]);
  });

  it('are kept by their hash where their names are long, and left out where they have none', () => {
    const long = 'x'.repeat(100_000);
    ask(long, 2);
    ask(undefined);
    ask(null);
    ask('');
    const worst = counts.worst('products', 10);
    expect(worst).toEqual([{ client: expect.stringMatching(/^sha256:[\w-]{43}$/), absents: 2, error: 0 }]);
    expect(events).toEqual([]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no such header');
      },
    ],
    ['returns a promise', () => Promise.reject(new Error('late'))],
    ['returns a number', () => 7],
  ])('are left out with an event where the function %s', (_what, client) => {
    counts = counting(client);
    ask('a');
    expect(counts.worst('products', 10)).toEqual([]);
    expect(events).toEqual([
      {
        type: 'guard-error',
        filter: 'products',
        method: 'Shop.find',
        operation: 'client',
        error: expect.any(Error),
      },
    ]);
  });

  it('are in bounded memory, however many there are', () => {
    counts = counting((context) => (context as never as { client: string }).client, 50);
    for (let i = 0; i < 10_000; i++) ask(`spoofed-${i}`);
    expect(counts.worst('products', Infinity)).toHaveLength(50);
  });

  it('hold no memory of the header that their address is a part of', () => {
    counts = counting((context) => (context as never as { client: string }).client, 2_000);
    const before = heapBytes();
    for (let i = 0; i < 2_000; i++) {
      const header = `10.0.${i >> 8}.${i & 255}:1024, ${String.fromCharCode(0x61 + (i % 26)).repeat(16_000)}`;
      ask(header.split(',')[0], 2);
    }
    expect(counts.worst('products', Infinity)).toHaveLength(2_000);
    expect(heapBytes() - before).toBeLessThan(10e6);
  });

  it('are asked for by one advice where no request is seen', () => {
    guarding.onAbsent!('Shop.find');
    guarding.onAbsent!('Shop.find');
    expect(events).toEqual([
      { type: 'advice', filter: 'products', text: expect.stringContaining('APP_INTERCEPTOR') },
    ]);
  });

  it('are not asked for where calls come from jobs as well', () => {
    ask('a');
    guarding.onAbsent!('Job.run');
    expect(events).toEqual([]);
  });
});

describe('A client', () => {
  it('is refused at the limit, for the whole time, and not a moment longer', () => {
    ask('a', 99);
    expect(counts.refusedForMs('a', LIMIT)).toBe(0);
    ask('a');
    expect(counts.refusedForMs('a', LIMIT)).toBe(60_000);
    now += 59_999;
    expect(counts.refusedForMs('a', LIMIT)).toBe(1);
    now += 1;
    expect(counts.refusedForMs('a', LIMIT)).toBe(0);
    ask('a', 99);
    expect(counts.refusedForMs('a', LIMIT)).toBe(0);
    ask('a');
    expect(counts.refusedForMs('a', LIMIT)).toBe(60_000);
  });

  it('is refused also when its absents lie in two minutes of the clock, and not when they lie apart', () => {
    now += 59_900;
    ask('a', 50);
    ask('slow', 60);
    now += 200;
    ask('a', 50);
    expect(counts.refusedForMs('a', LIMIT)).toBe(60_000);
    now += 40_000;
    ask('slow', 60);
    expect(counts.refusedForMs('slow', LIMIT)).toBe(0);
  });

  it('is charged for all filters that block, and for none that only watch', () => {
    const others = [state(), state()];
    counts.observe('orders', others[0]!);
    counts.observe('watched', others[1]!);
    others[1]!.mode = 'shadow';
    ask('a', 60);
    counts.run({ client: 'a' } as never, () => {
      for (let i = 0; i < 60; i++) others[1]!.onAbsent!('Shop.watch');
    });
    expect(counts.refusedForMs('a', LIMIT)).toBe(0);
    counts.run({ client: 'a' } as never, () => {
      for (let i = 0; i < 40; i++) others[0]!.onAbsent!('Shop.order');
    });
    expect(counts.refusedForMs('a', LIMIT)).toBe(60_000);
  });

  it('does not pay for others: not when a flood of clients fills the table', () => {
    counts = counting((context) => (context as never as { client: string }).client, 10);
    for (let round = 0; round < 300; round++) for (let i = 0; i < 20; i++) ask(`spoofed-${i}`);
    ask('honest', 2);
    expect(counts.worst('products', 20).find(({ client }) => client === 'honest')!.absents).toBeGreaterThan(
      100,
    );
    expect(counts.refusedForMs('honest', LIMIT)).toBe(0);
  });

  it('is let in again before others are forgotten, when more are refused than can be kept', () => {
    counts = counting((context) => (context as never as { client: string }).client, 20_000);
    const strict = { limit: 2, forMs: 60_000 };
    for (let i = 0; i <= 10_000; i++) {
      ask(`bad-${i}`, 2);
      expect(counts.refusedForMs(`bad-${i}`, strict)).toBe(60_000);
    }
    expect(counts.refusedForMs('bad-0', strict)).toBe(0);
    expect(counts.refusedForMs('bad-1', strict)).toBe(60_000);
  });

  it('is refused by the rule whose limit it has reached, and by no other', () => {
    const strict = { limit: 2, forMs: 30_000 };
    ask('a', 2);
    expect(counts.refusedForMs('a', strict)).toBe(30_000);
    expect(counts.refusedForMs('a', LIMIT)).toBe(0);
    expect(counts.refusedForMs('a', { ...strict, forMs: 10_000 })).toBe(10_000);
    ask('a', 98);
    expect(counts.refusedForMs('a', LIMIT)).toBe(60_000);
    now += 30_000;
    expect(counts.refusedForMs('a', strict)).toBe(30_000);
    expect(counts.refusedForMs('a', LIMIT)).toBe(30_000);
  });
});
