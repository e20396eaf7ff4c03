import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import type { TestingModule } from '@nestjs/testing';
import { type BloomEvent, BloomModule, type BloomRebuildSchedule, BloomService } from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
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
    jest.restoreAllMocks();
    await Promise.all(opened.splice(0).map((module) => module.close()));
    await redis.close();
  });

  /** The cron job fires in one instance; resolves when it has rebuilt, or has been told that it need not. */
  async function fire(module: TestingModule): Promise<void> {
    const rebuild = jest.spyOn(module.get(BloomService).filter('products'), 'rebuild');
    await module.get(SchedulerRegistry, { strict: false }).getCronJob('bloom:products').fireOnTick();
    await Promise.allSettled(rebuild.mock.results.map(({ value }) => value));
    expect(rebuild).toHaveBeenCalledTimes(1);
    rebuild.mockRestore();
  }

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
        BloomModule.forRoot({ redis: redis.server.url, ...PATIENT, onEvent: (event) => events.push(event) }),
        BloomModule.forFeature([
          { name: 'products', capacity: 1000, source: { ids }, rebuild: { drainMs: 1, ...rebuild } },
        ]),
      ],
    });
    opened.push(module);
    return module;
  }

  it('scan as often as one would that rebuilds every so often', async () => {
    const everyMs = 500;
    const since = performance.now();
    for (let i = 0; i < 4; i++) {
      await start(i, { everyMs, onBoot: 'never' });
      await wait(everyMs / 8);
    }
    await eventually('it is built again and again', () => scans.length >= 5);
    // A tenth earlier than due is soon enough.
    expect(scans.length).toBeLessThanOrEqual((performance.now() - since) / (0.9 * everyMs) + 1);
  });

  it('go on when the one that used to rebuild is gone', async () => {
    for (let i = 0; i < 2; i++) await start(i, { everyMs: 500, onBoot: 'never' });
    await eventually('two builds', () => scans.length >= 2);
    const [gone] = opened.splice(scans[1]!.instance, 1);
    await gone!.close();
    await eventually('the other one goes on', () => scans.length >= 4);
  });

  it('scan once for a cron job that fires in all of them, a little later in some', async () => {
    const modules: TestingModule[] = [];
    for (let i = 0; i < 4; i++) modules.push(await start(i, { cron: '0 4 * * *', onBoot: 'never' }));
    for (const module of modules) await fire(module);
    expect(scans.length).toBe(1);
  });

  it('are not kept from rebuilding by one whose source fails, and that is always the first to ask', async () => {
    const { now } = Date;
    let passedMs = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + passedMs);
    const modules: TestingModule[] = [];
    for (let i = 0; i < 3; i++) modules.push(await start(i, { cron: '0 4 * * *', onBoot: 'never' }, i === 0));
    for (let day = 0; day < 4; day++) {
      for (const module of modules) await fire(module);
      // The next day, in the processes and in what Redis keeps.
      passedMs += DAY_MS;
      await redis.client().hincrby('bloom:{products}:builds', 'began', -DAY_MS);
      await redis.client().hincrby('bloom:{products}:builds', 'live', -DAY_MS);
    }
    expect(scans.map(({ instance }) => instance)).toEqual([0, 1, 1, 1]);
  });

  it('scan as often as one would whose source fails', async () => {
    fails = true;
    const since = performance.now();
    await Promise.all(Array.from({ length: 8 }, (_, i) => start(i, {})));
    // After about 0, 1 and 3 seconds.
    await eventually('they try again and again', () => scans.length >= 3);
    expect(scans.length).toBeLessThanOrEqual(Math.log2((performance.now() - since) / 1000 + 1) + 2);
    fails = false;
    const before = scans.length;
    await eventually('the filter is built', () => events.some(({ type }) => type === 'rebuild-finished'));
    expect(scans.length).toBe(before + 1);
  });
});
