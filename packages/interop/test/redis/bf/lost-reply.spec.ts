import { Script } from 'nestjs-bloom/internal';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { luaSources } from '../../../../../test/support/lua-sources.js';
import { bfFixture, describeBf, luaWithoutLoadChunk } from '../../../../../test/support/bf-server.js';
import { build, commitIds, idsOf, leaseOf, testPlan } from '../../../../../test/support/built-filter.js';
import { expectFound } from '../../../../../test/support/never-absent.js';
import type { RedisFixture } from '../../../../../test/support/redis-fixture.js';
import type { TcpProxy } from '../../../../../test/support/tcp-proxy.js';
import { TellingRedis } from '../../../../../test/support/telling-redis.js';
import { redisBloom } from '../../../src/index.js';

const OLD = idsOf('old', 100);
const NEW = idsOf('new', 100);
const layout = redisBloom();

describeBf('A script on a filter of BF.* commands whose reply was lost', () => {
  let redis: RedisFixture;
  let proxy: TcpProxy;
  beforeAll(async () => {
    redis = await bfFixture();
    proxy = await redis.openProxy();
  });
  afterAll(() => redis.close());

  it.each(['bfStage', 'bfAdd', 'bfLoad', 'bfReserve', 'bfInsert', 'bfReplay', 'bfSwap'] as const)(
    'and that the client sends again, does no harm: %s',
    async (script) => {
      const name = redis.name();
      const client = new TellingRedis(proxy.url, { disconnectTimeout: 100 });
      client.on('error', () => {});
      const lua = ['bfReserve', 'bfInsert'].includes(script) ? luaWithoutLoadChunk() : luaSources;
      const { filter } = await redis.open(name, { redis: client, lua }, { layout });
      const other = (await redis.open(name, {}, { layout })).filter;
      await build(filter, OLD);
      await expectFound([filter, other], OLD);

      const { sha1 } = new Script(script, lua[script].source);
      let lost: Promise<void> | undefined;
      client.onScript = (sent) => {
        if (sent !== sha1 || lost) return;
        proxy.holdReplies();
        lost = delay(100).then(() => {
          proxy.disconnect();
          proxy.release();
        });
      };
      const lease = await leaseOf(filter);
      const staging = await lease.stage(testPlan());
      expect(await other.add(['by the other'])).toEqual([true]);
      await filter.add(['by this one']);
      await commitIds(staging, NEW);
      await lease.release();
      expect(lost).toBeDefined();
      await lost;
      await expectFound([filter, other], [...NEW, 'by the other', 'by this one']);
      expect(await other.check(OLD.slice(0, 3))).toEqual(['absent', 'absent', 'absent']);
      expect(await other.describe()).toMatchObject({
        state: 'ready',
        builds: 2,
        count: 102,
        rebuilding: false,
      });
      expect(await redis.client().keys(`bloom:{${name}}:bf:nestjs-bloom*`)).toHaveLength(1);
      client.disconnect();
    },
  );
});
