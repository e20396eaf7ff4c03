import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import type { TestingModule } from '@nestjs/testing';
import {
  type BloomEvent,
  type BloomFeature,
  BloomModule,
  type BloomRebuildSchedule,
  BloomService,
} from 'nestjs-bloom';
import { ModuleRef } from '@nestjs/core';
import { startCronJob } from '../../src/module/rebuild-scheduler.js';
import { FilterMonitor } from '../../src/module/filter-monitor.js';
import type { ManagedFilter } from '../../src/service/index.js';
import { startContext } from '../support/nest-app.js';
import { eventually } from '../support/eventually.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

describe('The schedule of a filter', () => {
  const opened: TestingModule[] = [];
  afterEach(async () => {
    for (const module of opened.splice(0)) await module.close();
  });

  async function startWith(feature: Partial<BloomFeature>) {
    const events: BloomEvent[] = [];
    opened.push(
      await startContext({
        imports: [
          BloomModule.forRoot({ onEvent: (event) => events.push(event) }),
          BloomModule.forFeature({ name: 'products', capacity: 1000, ...feature }),
        ],
      }),
    );
    return { events };
  }

  async function start(
    rebuild: BloomRebuildSchedule,
    options: { redis?: string; withScheduler?: boolean; rows?: string[] } = {},
  ) {
    const { redis, withScheduler = true, rows = ['mug'] } = options;
    const events: BloomEvent[] = [];
    const module = await startContext({
      imports: [
        ...(withScheduler ? [ScheduleModule.forRoot()] : []),
        BloomModule.forRoot({ ...(redis && { redis, ...PATIENT }), onEvent: (event) => events.push(event) }),
        BloomModule.forFeature([
          {
            name: 'products',
            capacity: 1000,
            errorRate: 1e-6,
            source: {
              async *ids() {
                yield rows;
              },
            },
            rebuild: { drainMs: 1, ...rebuild },
          },
        ]),
      ],
    });
    opened.push(module);
    const filter = module.get(BloomService).filter('products');
    return { module, filter, events, rows, builds: async () => (await filter.info()).builds };
  }

  it('is a cron job named bloom:<filter>, in its time zone, that rebuilds', async () => {
    const { module, builds } = await start({ cron: '0 4 * * *', timeZone: 'Asia/Tokyo', onBoot: 'never' });
    const job = module.get(SchedulerRegistry, { strict: false }).getCronJob('bloom:products');
    expect(job.isActive).toBe(true);
    expect(job.nextDate().zoneName).toBe('Asia/Tokyo');
    await job.fireOnTick();
    await eventually('the job rebuilds', async () => (await builds()) === 1);
    await module.close();
    opened.length = 0;
    expect(job.isActive).toBe(false);
  });

  it('is an interval that rebuilds again and again, without ScheduleModule', async () => {
    const { builds } = await start({ everyMs: 20, onBoot: 'never' }, { withScheduler: false });
    await eventually('it rebuilds again and again', async () => (await builds()) >= 3);
  });

  it('needs ScheduleModule, and a cron expression that makes sense', async () => {
    await expect(start({ cron: '0 4 * * *' }, { withScheduler: false })).rejects.toThrow(
      /Filter 'products' has rebuild.cron, but ScheduleModule is not imported. Add ScheduleModule.forRoot\(\)/,
    );
    await expect(start({ cron: 'at noon' })).rejects.toThrow(
      /expected rebuild.cron to be a cron expression such as '0 4 \* \* \*', got 'at noon'\. (?!.*undefined)/,
    );
    await expect(start({ cron: '0 4 * * *', timeZone: 'Mars/Olympus' })).rejects.toThrow(/an IANA time zone/);
  });

  it('does not blame the expression where the application has a job of this name', async () => {
    const { module } = await start({ cron: '0 4 * * *', onBoot: 'never' });
    const options = { filter: 'products', cron: '0 4 * * *', timeZone: undefined, onFire: () => {} };
    await expect(startCronJob(module.get(ModuleRef), options)).rejects.toThrow(/already exists/);
    await expect(startCronJob(module.get(ModuleRef), options)).rejects.not.toThrow(/rebuild\.cron/);
  });

  it.each<[string, Partial<BloomFeature>, RegExp]>([
    [
      'an interval of rebuilds that is too short',
      { rebuild: { everyMs: 10 } },
      /rebuild\.everyMs is 10,.* all the time/,
    ],
    [
      'an interval that is shorter than the wait of a rebuild',
      { rebuild: { everyMs: 5000, drainMs: 10_000 } },
      /rebuild\.everyMs is 5,000, and a rebuild waits drainMs, 10,000/,
    ],
    [
      'an interval of readings that is too short',
      { topUp: { everyMs: 10 } },
      /topUp\.everyMs is 10:.* 100 times a second/,
    ],
    ['leases in memory', { replica: 'leased' }, /replica: 'leased' and leaseMs have no effect/],
    ['a lease in memory', { leaseMs: 1000 }, /replica: 'leased' and leaseMs have no effect/],
  ])('is looked at with the other options, and there is advice on %s', async (_, feature, text) => {
    const source = { async *ids() {}, async *idsSince() {} };
    const rebuild = { onBoot: 'never', drainMs: 1, ...feature.rebuild } as const;
    const { events } = await startWith({ source, ...feature, rebuild });
    const advice = () => events.filter((event) => event.type === 'advice').map((event) => event.text);
    await eventually('the advice', () => advice().some((one) => text.test(one)));
  });

  it('is not advised against where it is of minutes', async () => {
    const { module, events } = await start({ everyMs: 300_000, onBoot: 'never', drainMs: 10_000 });
    await new FilterMonitor((event) => events.push(event)).advise(
      module.get(BloomService).filter('products') as ManagedFilter,
    );
    expect(events.filter(({ type }) => type === 'advice')).toEqual([]);
  });

  it('rebuilds at start by default, unless it is told never to', async () => {
    const { builds } = await start({}, { withScheduler: false });
    await eventually('the filter is built', async () => (await builds()) === 1);
    const never = await start({ onBoot: 'never' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await never.builds()).toBe(0);
  });

  it('tries again when the first build fails', async () => {
    const { builds, rows, events } = await start({}, { rows: [] });
    await eventually('the first build fails', () => events.some(({ type }) => type === 'rebuild-failed'));
    expect(await builds()).toBe(0);
    rows.push('late');
    await eventually('it is built after all', async () => (await builds()) === 1);
  });

  describe('on Redis', () => {
    let redis: RedisFixture;
    beforeAll(async () => {
      redis = await RedisFixture.start();
    });
    afterAll(() => redis.close());

    it('builds once for instances that start one after the other, or each time with onBoot: always', async () => {
      const url = redis.server.url;
      const { builds } = await start({}, { redis: url });
      await eventually('the filter is built', async () => (await builds()) === 1);
      const second = await start({}, { redis: url });
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await second.builds()).toBe(1);
      const third = await start({ onBoot: 'always' }, { redis: url });
      await eventually('it is built again', async () => (await third.builds()) === 2);
    });

    it('rebuilds automatically when the filter was lost', async () => {
      const { filter, builds } = await start({}, { redis: redis.server.url });
      await eventually('the filter is ready', async () => (await filter.check('mug')) === 'maybe');
      const before = await builds();
      await redis.client().flushall();
      await eventually('it is protected again', async () => (await filter.check('nothing')) === 'absent');
      expect(await filter.check('mug')).toBe('maybe');
      expect(await builds()).toBeLessThanOrEqual(before + 1);
    });

    it('is stopped with the application, in the middle of a rebuild', async () => {
      await redis.client().flushall();
      const rebuild = { drainMs: 3_600_000, onBoot: 'never' } as const;
      const { module, filter, events } = await start(rebuild, { redis: redis.server.url });
      const run = filter.rebuild().then(
        () => 'published',
        ({ reason }: { reason: string }) => reason,
      );
      await eventually('a rebuild drains', () =>
        events.some((event) => event.type === 'rebuild-progress' && event.progress.phase === 'draining'),
      );
      await module.close();
      opened.length = 0;
      expect(await run).toBe('aborted');
      expect(await redis.client().keys('bloom:{products}:next:*')).toEqual([]);
      expect(await redis.client().exists('bloom:{products}:lease')).toBe(0);
    });
  });
});
