import { Script } from '../../src/store/redis/client/script.js';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { runRebuild } from '../../src/rebuild/index.js';
import { luaSources } from '../support/lua-sources.js';
import { idsOf } from '../support/built-filter.js';
import { eventually } from '../support/eventually.js';
import { rebuildJob, sourceOf } from '../support/rebuild-job.js';
import { RedisFixture } from '../support/redis-fixture.js';
import type { TcpProxy } from '../support/tcp-proxy.js';
import { TellingRedis } from '../support/telling-redis.js';

const IDS = idsOf('id', 100);
/** Far longer than another process may have to wait, and than this test waits for it. */
const LEASE_MS = 60_000;
const STEPS = [
  'acquire',
  'renew',
  'describe',
  'stage',
  'publish',
  'merge',
  'check',
  'swap',
  'release',
] as const;

let redis: RedisFixture;
let proxy: TcpProxy;
beforeAll(async () => {
  redis = await RedisFixture.start();
  proxy = await redis.openProxy();
});
afterAll(() => redis.close());

/** It never settles what was on its way. */
describe.each(['request', 'reply'])('A client that sends nothing again, and loses a %s,', (lost) => {
  it.each(STEPS)('ends its rebuild, and keeps nobody from the next one: %s', async (step) => {
    const name = redis.name();
    const client = new TellingRedis(proxy.url, {
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: null,
      retryStrategy: () => 50,
      disconnectTimeout: 100,
    });
    client.on('error', () => {});
    const { filter } = await redis.open(name, { redis: client, writeTimeoutMs: 300 });
    const other = await redis.open(name);
    const job = { leaseMs: LEASE_MS };
    await runRebuild(rebuildJob(other.filter, sourceOf(IDS), job));
    await filter.describe();

    const { sha1 } = new Script(step, luaSources[step].source);
    let broken: Promise<void> | undefined;
    client.onScript = (sent) => {
      if (sent !== sha1 || broken) return;
      if (lost === 'request') proxy.hold();
      else proxy.holdReplies();
      broken = new Promise((resolve) => setTimeout(resolve, 100)).then(() => {
        proxy.disconnect();
        proxy.release();
      });
    };
    // On a machine that is busy a run may fail before it reaches the step.
    await eventually('the step is reached', async () => {
      await runRebuild(rebuildJob(filter, sourceOf(IDS), job)).catch(() => {});
      return broken !== undefined;
    });
    await broken;
    const rebuilt = () =>
      runRebuild(rebuildJob(other.filter, sourceOf(IDS), job)).then(({ outcome }) => outcome === 'published');
    await eventually('another process rebuilds', rebuilt);
    client.disconnect();
  });
});
