import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import type { TestingModule } from '@nestjs/testing';
import { type BloomEvent, BloomModule, type BloomRebuildSchedule } from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { RedisFixture } from '../support/redis-fixture.js';

const DAY_MS = 24 * 3_600_000;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('Several instances on one Redis', () => {
  let redis: RedisFixture;
  const opened: TestingModule[] = [];
  /** Each time that the source was asked for all ids, and by which instance. */
  let scans: { instance: number }[] = [];
  let events: BloomEvent[] = [];
  let fails = false;
  beforeEach(async () => {
    redis = await RedisFixture.start();
    scans = [];
    events = [];
    fails = false;
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((module) => module.close()));
    await redis.close();
  });

  async function start(
    instance: number,
    rebuild: BloomRebuildSchedule,
    isBroken = false,
  ): Promise<TestingModule> {
    const ids = async function* () {
      scans.push({ instance });
      const isDown = fails || isBroken;
      await wait(5);
      if (isDown) throw new Error('The database is down.');
      yield ['mug'];
    };
    const module = await startContext({
      imports: [
        ScheduleModule.forRoot(),
        BloomModule.forRoot({ redis: redis.server.url, onEvent: (event) => events.push(event) }),
        BloomModule.forFeature([
          { name: 'products', capacity: 1000, source: { ids }, rebuild: { drainMs: 1, ...rebuild } },
        ]),
      ],
    });
    opened.push(module);
    return module;
  }

  it('scan as often as one would that rebuilds every so often', async () => {
    for (let i = 0; i < 4; i++) {
      await start(i, { everyMs: 1000, onBoot: 'never' });
      await wait(130);
    }
    await eventually('the first build', () => scans.length > 0);
    await wait(4600);
    expect(scans.length).toBeGreaterThanOrEqual(4);
    expect(scans.length).toBeLessThanOrEqual(6);
  });

  it('go on when the one that used to rebuild is gone', async () => {
    for (let i = 0; i < 2; i++) await start(i, { everyMs: 500, onBoot: 'never' });
    await eventually('two builds', () => scans.length === 2);
    const [gone] = opened.splice(scans[1]!.instance, 1);
    await gone!.close();
    await eventually('the other one goes on', () => scans.length >= 4);
  });

  it('scan once for a cron job that fires in all of them, a little later in some', async () => {
    const modules: TestingModule[] = [];
    for (let i = 0; i < 4; i++) modules.push(await start(i, { cron: '0 4 * * *', onBoot: 'never' }));
    const fire = async (module: TestingModule) =>
      module.get(SchedulerRegistry, { strict: false }).getCronJob('bloom:products').fireOnTick();
    for (const module of modules) {
      await fire(module);
      await wait(150);
    }
    expect(scans.length).toBe(1);
  });

  it('are not kept from rebuilding by one whose source fails, and that is always the first to ask', async () => {
    const modules: TestingModule[] = [];
    for (let i = 0; i < 3; i++) modules.push(await start(i, { cron: '0 4 * * *', onBoot: 'never' }, i === 0));
    for (let fire = 0; fire < 4; fire++) {
      for (const module of modules) {
        await module.get(SchedulerRegistry, { strict: false }).getCronJob('bloom:products').fireOnTick();
        await wait(200);
      }
      // The next day.
      await redis.client().hincrby('bloom:{products}:builds', 'began', -DAY_MS);
      await redis.client().hincrby('bloom:{products}:builds', 'live', -DAY_MS);
    }
    expect(scans.map(({ instance }) => instance)).toEqual([0, 1, 1, 1]);
  });

  it('scan as often as one would whose source fails', async () => {
    fails = true;
    await Promise.all(Array.from({ length: 8 }, (_, i) => start(i, {})));
    await wait(8000);
    // After about 0, 1, 3 and 7 seconds.
    expect(scans.length).toBeGreaterThanOrEqual(3);
    expect(scans.length).toBeLessThanOrEqual(5);
    fails = false;
    const before = scans.length;
    await eventually('the filter is built', () => events.some(({ type }) => type === 'rebuild-finished'));
    expect(scans.length).toBe(before + 1);
  }, 40_000);
});
