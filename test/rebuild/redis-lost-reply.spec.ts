import { Script } from '../../src/store/redis/client/script.js';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { runRebuild } from '../../src/rebuild/index.js';
import { luaSources } from '../support/lua-sources.js';
import { idsOf } from '../support/built-filter.js';
import { eventually } from '../support/eventually.js';
import { expectFound } from '../support/never-absent.js';
import { rebuildJob, sourceOf } from '../support/rebuild-job.js';
import { RedisFixture } from '../support/redis-fixture.js';
import type { TcpProxy } from '../support/tcp-proxy.js';
import { TellingRedis } from '../support/telling-redis.js';

const OLD = idsOf('old', 100);
const NEW = idsOf('new', 100);
const SWAP = new Script('swap', luaSources.swap.source);
let redis: RedisFixture;
let proxy: TcpProxy;
beforeAll(async () => {
  redis = await RedisFixture.start();
  proxy = await redis.openProxy();
});
afterAll(() => redis.close());

/** ioredis never settles a command that it does not send again: the deadline of a write does. */
it.each([
  ['a client that sends it again', true],
  ['a client that does not', false],
])('A swap whose reply was lost has taken place, once, to %s', async (_, autoResendUnfulfilledCommands) => {
  const name = redis.name();
  const client = new TellingRedis(proxy.url, { autoResendUnfulfilledCommands, disconnectTimeout: 100 });
  client.on('error', () => {});
  const { filter } = await redis.open(name, { redis: client, writeTimeoutMs: 2_000 });
  const other = await redis.open(name);
  await runRebuild(rebuildJob(other.filter, sourceOf(OLD)));
  await expectFound([filter, other.filter], OLD);

  const admin = redis.client();
  const tag = () => admin.hget(`bloom:{${name}}:meta`, 'tag');
  const before = await tag();
  let lost: Promise<void> | undefined;
  client.onScript = (sha1) => {
    if (sha1 !== SWAP.sha1 || lost) return;
    proxy.holdReplies();
    lost = eventually('the swap has taken place', async () => (await tag()) !== before).then(() => {
      proxy.disconnect();
      proxy.release();
    });
  };
  const report = await runRebuild(rebuildJob(filter, sourceOf(NEW)));
  await lost;
  expect(report).toMatchObject({ outcome: 'published', ids: NEW.length });
  await expectFound([filter, other.filter], NEW);
  expect(await other.filter.check(OLD.slice(0, 3))).toEqual(['absent', 'absent', 'absent']);
  expect(await other.filter.describe()).toMatchObject({ builds: 2, rebuilding: false });
  expect((await admin.keys(`bloom:{${name}}:*`)).sort()).toEqual([
    `bloom:{${name}}:0`,
    `bloom:{${name}}:meta`,
  ]);
  client.disconnect();
});
