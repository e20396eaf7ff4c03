import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { LookupCounts } from '../../../../../src/service/filter-counts.js';
import type { BlockedSnapshot } from '../../../../../src/store/redis/blocked/blocked-meta.js';
import { LostLeases } from '../../../../../src/store/redis/blocked/copies/lost-leases.js';
import { build, commitIds, leaseOf, testGeneration, testPlan } from '../../../../support/built-filter.js';
import { isPending } from '../../../../support/leased-reader.js';
import { eventually } from '../../../../support/eventually.js';
import { luaWithout } from '../../../../support/broken-lua.js';
import type { TestedStoreOptions } from '../../../../support/lua-client.js';
import { RedisFixture } from '../../../../support/redis-fixture.js';

/** Far longer than any test: whatever ends sooner has not waited for it. */
const LONG_MS = 60_000;
/** Whatever waits for a whole lease is to end in a test. */
const SHORT_MS = 300;

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

/** A filter that was built by a process without leases, and a process that knows of them. */
async function system(leaseMs: number) {
  const name = redis.name();
  await build((await redis.open(name)).filter, ['built']);
  const recorder = new LookupCounts();
  const { filter } = await redis.open(name, {}, { leaseMs, recorder });
  return { name, filter, key: `bloom:{${name}}:meta`, waits: () => recorder.snapshot().copyWaits.adds };
}

describe('A process that knows of leases, on a filter that nobody has read with one', () => {
  it('has adds wait until a lease has passed since it first saw the filter, and none after that', async () => {
    const { filter, waits } = await system(SHORT_MS);
    await filter.add(['first']);
    expect(waits()).toBe(1);
    for (let i = 0; i < 3; i++) {
      // Long enough for the metadata to be read again.
      await new Promise((resolve) => setTimeout(resolve, SHORT_MS));
      await filter.describe();
      await filter.add([`later ${i}`]);
    }
    expect(waits()).toBe(1);
  });

  it('swaps nothing in before its staging has been published for as long as a lease', async () => {
    const { filter, key } = await system(LONG_MS);
    const tag = await admin.hget(key, 'tag');
    const lease = await leaseOf(filter);
    const committing = commitIds(await lease.stage(testPlan()), ['built', 'other']);
    committing.catch(() => {});
    expect(await isPending(committing, admin)).toBe(true);
    expect(await admin.hget(key, 'tag')).toBe(tag);
    await lease.release();
  });
});

describe('A rebuild where nothing is live any more', () => {
  async function rebuild(options: Partial<TestedStoreOptions> = {}) {
    const { name, filter: reader, key } = await system(LONG_MS);
    await reader.describe();
    await admin.del(key);
    // Makes the metadata again, which say from then on that leases may be out.
    await eventually('it is lost', async () => (await reader.describe()).state === 'lost');
    expect(await admin.hget(key, 'tag')).toBe('L');
    const { filter } = await redis.open(name, options, { leaseMs: LONG_MS });
    const lease = await leaseOf(filter);
    const committing = commitIds(await lease.stage(testPlan()), ['built', 'other']);
    committing.catch(() => {});
    const isSwapped = async () => (await admin.hget(key, 'tag')) !== 'L';
    return { committing, isSwapped, release: () => lease.release() };
  }

  it('swaps nothing in before its staging has been published for as long as a lease', async () => {
    const { committing, isSwapped, release } = await rebuild();
    expect(await isPending(committing, admin)).toBe(true);
    expect(await isSwapped()).toBe(false);
    await release();
  });

  it('would swap at once without that rule', async () => {
    const { isSwapped, release } = await rebuild({ lua: luaWithout('new-waits') });
    await eventually('it is swapped in', isSwapped);
    await release();
  });
});

describe('LostLeases', () => {
  const LEASE_MS = 1000;
  const look = (leases: LostLeases, readAt: number, reading: Partial<BlockedSnapshot> = {}) =>
    leases.look({ ...readingOf('live'), ...reading, readAt });

  it('stands for a lease since the first look at what is live, however rarely that is looked at', () => {
    const leases = new LostLeases(LEASE_MS);
    expect([100, 5000, 90_000].map((at) => look(leases, at))).toEqual([1100, 1100, 1100]);
  });

  it('begins again with another generation, run of the server or connection', () => {
    const leases = new LostLeases(LEASE_MS);
    expect(look(leases, 100)).toBe(1100);
    expect(look(leases, 200, { storedTag: 'other' })).toBe(1200);
    expect(look(leases, 300, { storedTag: 'other', runId: 'other' })).toBe(1300);
    expect(look(leases, 400, { storedTag: 'other', runId: 'other', server: 'other' })).toBe(1400);
    expect(look(leases, 500)).toBe(1500);
  });

  it('begins again after metadata that know of leases', () => {
    const leases = new LostLeases(LEASE_MS);
    look(leases, 100);
    expect(look(leases, 200, { leasesMs: 5000 })).toBe(0);
    expect(look(leases, 300)).toBe(5300);
  });

  it('begins again when nothing is live, or nobody says which server it is, unless looks follow closely', () => {
    for (const reading of [readingOf('none'), { runId: '' }]) {
      const leases = new LostLeases(LEASE_MS);
      const untils = [100, 500, 900, 1500].map((at) => look(leases, at, reading));
      expect(untils).toEqual([1100, 1100, 1100, 2500]);
    }
  });

  it('stands for nothing in a process that knows of no lease', () => {
    expect(look(new LostLeases(undefined), 100)).toBe(0);
  });
});

function readingOf(what: 'live' | 'none'): Omit<BlockedSnapshot, 'unseenUntil'> {
  const generation = what === 'live' ? testGeneration() : undefined;
  return {
    server: 'server',
    runId: 'run',
    readAt: 0,
    storedTag: what === 'live' ? 'tag' : '',
    leasesMs: undefined,
    live: undefined,
    staging: undefined,
    negativeCache: undefined,
    stored: true,
    description: {
      state: what === 'live' ? 'ready' : 'unbuilt',
      builds: 1,
      builtIds: 0,
      capacity: 0,
      errorRate: 0,
      builtAt: undefined,
      rebuilding: false,
      generation,
      shape: undefined,
      count: 0,
    },
  };
}
