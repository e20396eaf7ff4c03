import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import type { ForeignAdds } from '../../../src/index.js';
import { runRebuild } from '../../../../../src/rebuild/index.js';
import type { StoredFilter } from 'nestjs-bloom/store';
import { eventually } from '../../../../../test/support/eventually.js';
import type { Peer } from '../../support/peers/peer.js';
import { goZeroPeer } from '../../support/peers/go-zero-peer.js';
import { redissonPeer } from '../../support/peers/redisson-peer.js';
import { rebuildJob } from '../../../../../test/support/rebuild-job.js';
import { RedisFixture } from '../../../../../test/support/redis-fixture.js';

const FAULTS = 25;
const DRAIN_MS = 40;
/** Nobody dies here: a lease that ends under its holder is one that a fault took. */
const LEASE_MS = 10_000;

let redis: RedisFixture;
let admin: Redis;

beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

type Fault = (key: string, meta: string) => Promise<unknown>;

const faults: Record<string, Fault> = {
  'the key is deleted': (key) => admin.del(key),
  'the key is emptied': (key) => admin.set(key, ''),
  'the key is zeros': async (key) => admin.set(key, Buffer.alloc(await admin.strlen(key))),
  'a byte is put behind': async (key) => {
    await admin.append(key, 'x');
    await delay(20);
    await admin.del(key);
  },
  'everything is flushed': () => admin.flushall(),
  'the metadata are deleted': (_, meta) => admin.del(meta),
  'the metadata name nothing live': (_, meta) => admin.hdel(meta, 'token'),
  'the staging is deleted': async (key) => {
    const staged = await admin.keys(`*${key}}:nestjs-bloom:next:*`);
    if (staged.length > 0) await admin.del(...staged);
  },
  'the lease is taken': (key) => admin.set(`{${key}}:nestjs-bloom:lease`, 'another', 'PX', 20),
  'the lease is deleted': (key) => admin.del(`{${key}}:nestjs-bloom:lease`),
};

/**
 * Processes, a peer, rebuilders and faults, all at once: how many ids that have rows were answered "absent".
 */
async function wrongAbsents(peer: Peer, foreignAdds: ForeignAdds) {
  const key = redis.name();
  const layout = peer.layout(key, { foreignAdds });
  const open = async () => (await redis.open(key, {}, { layout })).filter;
  const [one, two, builder, otherBuilder] = [await open(), await open(), await open(), await open()];
  const rows: string[] = ['first'];
  let [running, wrong, absents, published] = [true, 0, 0, 0];

  const adder = async (name: string, add: (id: string) => Promise<unknown>) => {
    for (let i = 0; running; i++) {
      const isAdded = await add(`${name}-${i}`).then(
        () => true,
        () => false,
      );
      // The row is there as soon as its add is acknowledged.
      if (isAdded) rows.push(`${name}-${i}`);
      await delay(2);
    }
  };
  const reader = async (filter: StoredFilter) => {
    // What is unknown is answered without a turn of the event loop.
    for (; running; await delay(1)) {
      const ids = Array.from({ length: 10 }, () => rows[Math.floor(Math.random() ** 0.5 * rows.length)]!);
      wrong += (await filter.check(ids)).filter((verdict) => verdict === 'absent').length;
      absents += (await filter.check([`nothing-${Math.random()}`])).filter((one) => one === 'absent').length;
    }
  };
  const rebuilder = async (filter: StoredFilter) => {
    const source = {
      ids: async function* () {
        for (let at = 0; at < rows.length; at += 200) {
          yield rows.slice(at, at + 200);
          await delay(1);
        }
      },
    };
    while (running) {
      const job = rebuildJob(filter, source, { drainMs: DRAIN_MS, leaseMs: LEASE_MS, minRatio: 0 });
      const report = await runRebuild(job).catch(() => undefined);
      if (report?.outcome === 'published') published++;
      await delay(10 + Math.random() * 40);
    }
  };
  const work = [
    adder('one', (id) => one.add([id])),
    adder('two', (id) => two.add([id])),
    // With 'none', a rebuild loses what a peer adds while it runs.
    ...(foreignAdds === 'keep' ? [adder('peer', (id) => peer.add(admin, key, id))] : []),
    reader(one),
    reader(two),
    rebuilder(builder),
    rebuilder(otherBuilder),
  ];
  try {
    const names = Object.keys(faults);
    for (let i = 0; i < FAULTS; i++) {
      await delay(20 + Math.random() * 120);
      await faults[names[Math.floor(Math.random() * names.length)]!]!(key, `{${key}}:nestjs-bloom:meta`);
    }
    const before = published;
    await eventually('the filter is rebuilt', () => published > Math.max(before + 1, 2));
    await eventually('rows are added', () => rows.length > 100);
    await eventually('absent ids are answered', () => absents > 10);
  } finally {
    running = false;
    await Promise.all(work);
  }
  for (const filter of [one, two]) {
    wrong += (await filter.check(rows)).filter((verdict) => verdict === 'absent').length;
  }
  return { wrong, absents, published, rows: rows.length };
}

describe('Under faults, a filter on the keys of a peer never answers "absent" for an id that has a row', () => {
  it.each<[name: string, peer: Peer, foreignAdds: ForeignAdds]>([
    ['go-zero, keep', goZeroPeer(200_000), 'keep'],
    ['go-zero, none', goZeroPeer(200_000), 'none'],
    ['Redisson, keep', redissonPeer({ codec: 'StringCodec' }, { capacity: 20_000, errorRate: 1e-4 }), 'keep'],
  ])('%s', async (_, peer, foreignAdds) => {
    const { wrong, absents, published, rows } = await wrongAbsents(peer, foreignAdds);
    expect(wrong).toBe(0);
    // It was in service in between, or nothing was tried.
    expect(absents).toBeGreaterThan(10);
    expect(published).toBeGreaterThan(2);
    expect(rows).toBeGreaterThan(100);
  });
});
