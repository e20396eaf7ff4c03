import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { runRebuild } from '../../src/rebuild/index.js';
import { luaSources } from '../../src/store/redis/index.js';
import { idsOf } from '../support/built-filter.js';
import { expectFound } from '../support/never-absent.js';
import { rebuildJob, sourceOf } from '../support/rebuild-job.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const OLD = idsOf('old', 100);
const NEW = idsOf('new', 100);
/** Time that the server takes over a swap, of which the connection ends in the middle. */
const SWAP_S = 0.4;

let redis: RedisFixture;
let proxy: TcpProxy;
beforeAll(async () => {
  redis = await RedisFixture.start();
  proxy = await TcpProxy.open(redis.server);
});
afterAll(async () => {
  await proxy.close();
  await redis.close();
});

/** A swap that has been carried out when its reply is on the way, and for a good while not sent. */
function slowSwap(): typeof luaSources {
  const { source } = luaSources.swap;
  const wait = `local from = os.clock()\nwhile os.clock() - from < ${SWAP_S} do end\nreturn 'OK'`;
  const slow = source.replace(/return 'OK'\s*$/, wait);
  if (slow === source) throw new Error("Expected the script swap to end with return 'OK'.");
  return { ...luaSources, swap: { source: slow } };
}

it('A swap whose reply was lost has taken place, once, to a client that sends it again', async () => {
  const name = redis.name();
  const client = new Redis(proxy.url, { disconnectTimeout: 100 });
  client.on('error', () => {});
  const { filter } = await redis.open(name, { redis: client, luaSources: slowSwap() });
  const other = await redis.open(name);
  await runRebuild(rebuildJob(other.filter, sourceOf(OLD)));
  await expectFound([filter, other.filter], OLD);

  const report = await runRebuild(rebuildJob(filter, sourceOf(NEW)), {
    onProgress: ({ phase }) => {
      if (phase === 'swapping') setTimeout(() => proxy.disconnect(), (SWAP_S * 1000) / 2);
    },
  });
  expect(report).toMatchObject({ outcome: 'published', ids: NEW.length });
  await expectFound([filter, other.filter], NEW);
  expect(await other.filter.check(OLD.slice(0, 3))).toEqual(['absent', 'absent', 'absent']);
  expect(await other.filter.describe()).toMatchObject({ builds: 2, rebuilding: false });
  expect((await redis.client().keys(`bloom:{${name}}:*`)).sort()).toEqual([
    `bloom:{${name}}:0`,
    `bloom:{${name}}:meta`,
  ]);
  client.disconnect();
});
