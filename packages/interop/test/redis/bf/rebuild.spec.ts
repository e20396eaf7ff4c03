import { afterAll, beforeAll } from '@jest/globals';
import { bfFixture, describeBf, luaWithoutLoadChunk } from '../../../../../test/support/bf-server.js';
import type { RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { describeRebuild } from '../../../../../test/rebuild/contract.js';
import { redisBloom } from '../../../src/index.js';

describeBf('Rebuilds of filters of BF.* commands', () => {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await bfFixture();
  });
  afterAll(() => redis.close());

  const layout = redisBloom();
  const open = async (options = {}, opened = {}) =>
    (await redis.open(redis.name(), options, { layout, ...opened })).filter;

  describeRebuild('filter of BF.* commands', () => open());
  describeRebuild('filter of BF.* commands that does not scale', () =>
    open({}, { layout: redisBloom({ nonScaling: true }) }),
  );
  describeRebuild('filter of BF.* commands on a server without BF.LOADCHUNK', () =>
    open({ lua: luaWithoutLoadChunk() }),
  );
});
