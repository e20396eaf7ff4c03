import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BloomModule, BloomService } from 'nestjs-bloom';
import type { Redis } from 'ioredis';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

const FILTERS = ['products', 'orders'];
const SOURCE = {
  async *ids() {
    yield ['a', 'b'];
  },
};
/** The time in which a filter of an idle process may send one command. */
const SPAN_MS = 10_000;

let redis: RedisFixture;
let admin: Redis;
let monitor: Redis;
/** Commands that clients have sent, without those that scripts run, and those of this test. */
let sent: readonly string[] = [];

beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
  monitor = await admin.monitor();
  monitor.on('monitor', (_time: string, [command, ...args]: string[], source: string) => {
    if (source !== 'lua') sent = [...sent, `${command} ${args.slice(0, 3).join(' ')}`];
  });
});
afterAll(async () => {
  monitor.disconnect();
  await redis.close();
});

it('sends Redis at most one command in ten seconds for each filter while it is idle, and writes nothing', async () => {
  const filters = FILTERS.map((name) => ({ name, capacity: 1000, source: SOURCE, rebuild: { drainMs: 0 } }));
  const root = BloomModule.forRoot({ redis: redis.server.url, ...PATIENT, filters });
  const module = await startContext({ imports: [root] });
  try {
    const bloom = module.get(BloomService);
    await bloom.whenReady();
    // A process that has answered, and has a copy of its filters.
    await eventually('the copies answer', async () => {
      const found = await Promise.all(FILTERS.map((name) => bloom.filter(name).check('a')));
      return (
        found.every((verdict) => verdict === 'maybe') &&
        bloom.metrics().every(({ lookups }) => lookups.local > 0)
      );
    });
    await delay(2000);
    sent = [];
    await delay(SPAN_MS);
    for (const name of FILTERS) {
      const ofFilter = sent.filter((command) => command.includes(`{${name}}`));
      expect(ofFilter.length).toBeLessThanOrEqual(1);
    }
    expect(sent.length).toBeLessThanOrEqual(FILTERS.length);
    const reports = await admin.keys('*:instance:*');
    expect(reports).toEqual([]);
  } finally {
    await module.close();
  }
});
