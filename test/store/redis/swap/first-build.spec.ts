import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { BloomLayout } from '../../../../src/filter/index.js';
import { runRebuild } from '../../../../src/rebuild/index.js';
import { idsOf } from '../../../support/built-filter.js';
import { bfFixture, describeBf } from '../../../support/bf-server.js';
import { expectFound } from '../../../support/never-absent.js';
import { EVERY_PEER } from '../../../../packages/interop/test/support/peers/every-peer.js';
import { heldSource, rebuildJob, sourceOf } from '../../../support/rebuild-job.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import { sideBySide } from '../../../support/side-by-side.js';
import { redisBloom } from '@nestjs-bloom/interop';

const BUILT = idsOf('built', 50);

const OTHER_TYPES: Record<string, (client: Redis, key: string) => Promise<unknown>> = {
  'a list': (client, key) => client.rpush(key, 'a', 'b'),
  'a hash': (client, key) => client.hset(key, 'a', '1'),
  'a set': (client, key) => client.sadd(key, 'a'),
  'a sorted set': (client, key) => client.zadd(key, 1, 'a'),
  'a stream': (client, key) => client.xadd(key, '*', 'a', '1'),
};
const TEXTS: Record<string, (client: Redis, key: string) => Promise<unknown>> = {
  'a short text': (client, key) => client.set(key, 'hello'),
  'a number': (client, key) => client.set(key, '12'),
  'a cached object': (client, key) => client.set(key, JSON.stringify({ name: 'mug'.repeat(100) })),
  'a long text': (client, key) => client.set(key, 'The quick brown fox. '.repeat(3000)),
};

/** The first build leaves the key alone, and says so; when it is gone, the build is carried out. */
async function expectLeftAlone(
  redis: RedisFixture,
  layoutOf: (key: string) => BloomLayout,
  make: (client: Redis, key: string) => Promise<unknown>,
  isLate: boolean,
): Promise<void> {
  const admin = redis.client();
  const key = redis.name();
  if (!isLate) await make(admin, key);
  const { filter } = await redis.open(key, {}, { layout: layoutOf(key), hasSource: true });
  const held = heldSource(BUILT);
  const run = runRebuild(rebuildJob(filter, held.source));
  run.catch(() => {});
  if (isLate) {
    await held.reached;
    await admin.del(key);
    await make(admin, key);
  }
  held.release();
  const before = await admin.dumpBuffer(key);
  await expect(run).rejects.toThrow(isLate ? /left alone|vanished or was replaced/ : /left alone/);
  expect(await admin.dumpBuffer(key)).toEqual(before);
  expect(await filter.check(['x', ...BUILT])).not.toContain('absent');
  await admin.del(key);
  await runRebuild(rebuildJob(filter, sourceOf(BUILT)));
  await expectFound([filter], BUILT);
  expect(await filter.check(['x'])).toEqual(['absent']);
}

describe.each(EVERY_PEER.map((peer) => [peer.name, peer] as const))('The first build of %s', (_, peer) => {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await RedisFixture.start();
  });
  afterAll(() => redis.close());

  describe.each(['keep', 'none'] as const)('with foreignAdds %s', (foreignAdds) => {
    const layoutOf = (key: string) => peer.layout(key, { foreignAdds });

    const together = sideBySide();
    for (const [what, make] of Object.entries({ ...OTHER_TYPES, ...TEXTS })) {
      together(`leaves ${what} alone`, () => expectLeftAlone(redis, layoutOf, make, false));
      together(`leaves ${what} alone that comes meanwhile`, () =>
        expectLeftAlone(redis, layoutOf, make, true),
      );
    }
  });
});

describeBf('The first build of BF.*', () => {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await bfFixture();
  });
  afterAll(() => redis.close());

  const layoutOf = (key: string): BloomLayout => redisBloom({ key });
  const kinds = {
    ...OTHER_TYPES,
    ...TEXTS,
    'a cuckoo filter': (client: Redis, key: string) => client.call('CF.ADD', key, 'a'),
  };

  const together = sideBySide();
  for (const [what, make] of Object.entries(kinds)) {
    together(`leaves ${what} alone`, () => expectLeftAlone(redis, layoutOf, make, false));
    together(`leaves ${what} alone that comes meanwhile`, () => expectLeftAlone(redis, layoutOf, make, true));
  }
});
