import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { BloomEvent } from 'nestjs-bloom/store';
import { runRebuild } from '../../../../../src/rebuild/index.js';
import { idsOf } from '../../../../../test/support/built-filter.js';
import { expectFound } from '../../../../../test/support/never-absent.js';
import { fillByPeer } from '../../support/peers/peer.js';
import { goZeroPeer } from '../../support/peers/go-zero-peer.js';
import { guavaPeer } from '../../support/peers/guava-peer.js';
import { heldSource, rebuildJob, sourceOf } from '../../../../../test/support/rebuild-job.js';
import { RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { adoptable } from '../../../../../test/support/abilities.js';
import { goZero, guava } from '../../../src/index.js';

const BUILT = idsOf('built', 100);
const peer = goZeroPeer(20_000);

let redis: RedisFixture;
let admin: Redis;

beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

describe('A number of bits that is not that of the peer', () => {
  it.each([10_000, 19_000, 21_000, 40_000])(
    'is reported, and no such filter is taken or replaced: %p instead of 20,000',
    async (bits) => {
      const key = redis.name();
      await fillByPeer(peer, admin, key, BUILT);
      const value = await admin.getBuffer(key);
      const layout = goZeroPeer(bits).layout(key);
      const { filter, events } = await redis.open(key, {}, { layout, hasSource: false });
      expect(await filter.check(['built-1', 'nothing'])).toEqual(['unknown', 'unknown']);
      const told = events.filter(
        (event): event is BloomEvent & { error: Error } => event.type === 'store-error',
      );
      expect(told.map(({ error }) => error.message)).toEqual([
        expect.stringContaining('uses another number'),
      ]);
      await expect(adoptable(filter).adopt()).rejects.toThrow(/uses another number/);
      const rebuilding = await redis.open(key, {}, { layout });
      await expect(runRebuild(rebuildJob(rebuilding.filter, sourceOf(BUILT)))).rejects.toThrow(/left alone/);
      expect(await admin.getBuffer(key)).toEqual(value);
    },
  );

  it('is refused where another process uses the right one', async () => {
    const key = redis.name();
    await fillByPeer(peer, admin, key, BUILT);
    const right = await redis.open(key, {}, { layout: peer.layout(key), hasSource: false });
    await expectFound([right.filter], BUILT);
    for (const layout of [goZeroPeer(20_001).layout(key), goZeroPeer(20_008).layout(key)]) {
      const wrong = await redis.open(key, {}, { layout, hasSource: false });
      expect(await wrong.filter.check(['nothing'])).toEqual(['unknown']);
      await expect(wrong.filter.add(['x'])).rejects.toThrow(/Use the same on every side/);
      await expect(wrong.filter.describe()).rejects.toThrow(/20000 bits/);
    }
    expect(await right.filter.check(['nothing'])).toEqual(['absent']);
  });

  it('is refused with another funnel, too', async () => {
    const target = { capacity: 1000, errorRate: 0.01 };
    const key = redis.name();
    await fillByPeer(guavaPeer(target), admin, key, BUILT);
    const layout = guava({ key, funnel: 'stringFunnel' });
    const right = await redis.open(key, {}, { layout, hasSource: false });
    await expectFound([right.filter], BUILT);
    const wrong = await redis.open(
      key,
      {},
      { layout: guava({ key, funnel: 'byteArrayFunnel' }), hasSource: false },
    );
    expect(await wrong.filter.check(['nothing'])).toEqual(['unknown']);
    await expect(wrong.filter.describe()).rejects.toThrow(/encoded as stringFunnel/);
  });
});

describe('Ids that a peer adds during a rebuild, and whose rows it does not read', () => {
  it.each([
    ['keep', 0, 0],
    ['none', 590, 600],
  ] as const)("are kept with 'foreignAdds: keep' alone: %s", async (foreignAdds, least, most) => {
    const key = redis.name();
    const layout = goZero({ key, bits: 20_000, foreignAdds });
    const { filter } = await redis.open(key, {}, { layout });
    const ids = idsOf('row', 1000);
    await runRebuild(rebuildJob(filter, sourceOf(ids)));
    const held = heldSource(ids.slice(50));
    const run = runRebuild(rebuildJob(filter, held.source));
    await held.reached;
    const added = idsOf('by the peer', 600);
    for (const id of added) await peer.add(admin, key, id);
    expect(await filter.check(added)).toEqual(added.map(() => 'maybe'));
    held.release();
    await run;
    const lost = (await filter.check(added)).filter((verdict) => verdict === 'absent').length;
    expect(lost).toBeGreaterThanOrEqual(least);
    expect(lost).toBeLessThanOrEqual(most);
  });
});
