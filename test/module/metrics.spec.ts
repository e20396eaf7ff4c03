import { afterEach, describe, expect, it } from '@jest/globals';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import type { TestingModule } from '@nestjs/testing';
import { BloomModule, type BloomFeature, type BloomModuleOptions, BloomService } from 'nestjs-bloom';
import { metricsOf } from '../guard/support/metrics.js';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';

const HOUR_MS = 3_600_000;

let module: TestingModule | undefined;
afterEach(async () => {
  await module?.close();
  module = undefined;
});

async function start(features: Partial<BloomFeature>[], options: BloomModuleOptions = {}) {
  const all = features.map((feature, i) => ({
    name: `filter-${i}`,
    capacity: 1000,
    create: 'first-start' as const,
    ...feature,
  }));
  module = await startContext({
    imports: [
      ScheduleModule.forRoot(),
      BloomModule.forRoot({ logger: false, ...options }),
      BloomModule.forFeature(all as BloomFeature[]),
    ],
  });
  return module.get(BloomService);
}

/** A source that waits before its last page until the test lets it go on. */
function heldSource() {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const source = {
    async *ids() {
      yield ['a', 'b'];
      await held;
      yield ['c'];
    },
  };
  return { source, release: () => release() };
}

describe('The metrics of rebuilds', () => {
  it('are the progress while one runs, and the phases of the last one', async () => {
    const { source, release } = heldSource();
    const bloom = await start([{ source, rebuild: { onBoot: 'never', drainMs: 0 } }]);
    const rebuildOf = () => metricsOf(bloom, 'filter-0').rebuild;
    expect(rebuildOf()).toEqual({ progress: undefined, nextRunAt: undefined, lastPhases: [] });
    const run = bloom.filter('filter-0').rebuild();
    await eventually('the source is read', () => rebuildOf().progress?.phase === 'scanning');
    expect(rebuildOf().lastPhases).toEqual([]);
    release();
    await run;
    const { progress, lastPhases } = rebuildOf();
    expect(progress).toBeUndefined();
    expect(lastPhases.map(({ phase }) => phase)).toEqual([
      'staging',
      'draining',
      'scanning',
      'merging',
      'verifying',
      'swapping',
    ]);
    for (const { durationMs } of lastPhases) expect(durationMs).toBeGreaterThanOrEqual(0);
  });

  it('are the phases until a run failed', async () => {
    const failing = {
      async *ids(): AsyncGenerator<string[]> {
        yield ['a'];
        throw new Error('The table is gone.');
      },
    };
    const bloom = await start([{ source: failing, rebuild: { onBoot: 'never', drainMs: 0 } }]);
    await expect(bloom.filter('filter-0').rebuild()).rejects.toThrow('The table is gone.');
    expect(metricsOf(bloom, 'filter-0').rebuild.lastPhases.map(({ phase }) => phase)).toEqual([
      'staging',
      'draining',
      'scanning',
    ]);
    expect(metricsOf(bloom, 'filter-0').rebuild.progress).toBeUndefined();
  });

  it('are when the next run is, by an interval, a cron expression, or both', async () => {
    const source = {
      async *ids() {
        yield ['a'];
      },
    };
    const before = Date.now();
    const bloom = await start([
      { source, rebuild: { onBoot: 'never', everyMs: 2 * HOUR_MS } },
      { source, rebuild: { onBoot: 'never', cron: '30 4 * * *', timeZone: 'UTC' } },
      { source, rebuild: { onBoot: 'never' } },
    ]);
    const nextOf = (name: string) => metricsOf(bloom, name).rebuild.nextRunAt;
    expect(nextOf('filter-0')!.getTime()).toBeGreaterThanOrEqual(before + 2 * HOUR_MS);
    expect(nextOf('filter-0')!.getTime()).toBeLessThanOrEqual(Date.now() + 2 * HOUR_MS);
    const byCron = nextOf('filter-1')!;
    expect([byCron.getUTCHours(), byCron.getUTCMinutes(), byCron.getUTCSeconds()]).toEqual([4, 30, 0]);
    expect(byCron.getTime()).toBeGreaterThan(before);
    expect(byCron.getTime()).toBeLessThanOrEqual(Date.now() + 24 * HOUR_MS);
    expect(nextOf('filter-2')).toBeUndefined();
    await module!.get(SchedulerRegistry).getCronJob('bloom:filter-1').stop();
    expect(nextOf('filter-1')).toBeUndefined();
    await module!.close();
    module = undefined;
    expect(nextOf('filter-0')).toBeUndefined();
  });
});

describe('The metrics of the adds and the setup', () => {
  it('have the ids that wait, the mode of each filter, and the advice that was given', async () => {
    const bloom = await start([
      {},
      { shadow: true, source: { async *ids() {} }, rebuild: { onBoot: 'never', drainMs: 0 } },
    ]);
    expect(bloom.metrics().map(({ filter, mode, queuedAdds }) => ({ filter, mode, queuedAdds }))).toEqual([
      { filter: 'filter-0', mode: 'on', queuedAdds: 0 },
      { filter: 'filter-1', mode: 'shadow', queuedAdds: 0 },
    ]);
    await eventually('advice is given', () => metricsOf(bloom, 'filter-1').advice.length > 0);
    expect(metricsOf(bloom, 'filter-1').advice).toEqual([expect.stringContaining('rebuild.drainMs is 0')]);
    expect(metricsOf(bloom, 'filter-0').advice).toEqual([]);
  });

  it('start no timer, neither by lookups nor by reading them', async () => {
    const bloom = await start([{}]);
    await bloom.filter('filter-0').add('a');
    const started: string[] = [];
    const { setTimeout: timeout, setInterval: interval } = globalThis;
    Object.assign(globalThis, {
      setTimeout: (...args: Parameters<typeof timeout>) => (started.push('setTimeout'), timeout(...args)),
      setInterval: (...args: Parameters<typeof interval>) => (started.push('setInterval'), interval(...args)),
    });
    try {
      for (let i = 0; i < 100; i++) await bloom.filter('filter-0').check(`id-${i}`);
      for (let i = 0; i < 100; i++) bloom.metrics();
    } finally {
      Object.assign(globalThis, { setTimeout: timeout, setInterval: interval });
    }
    expect(started).toEqual([]);
  });
});
