import type { ModuleRef } from '@nestjs/core';
import { BloomConfigError, type BloomEvent, BloomRebuildError, systemClock } from '../common/index.js';
import type { ManagedFilter } from '../service/index.js';
import type { RebuildRequest } from '../rebuild/index.js';
import { type BuildOccasion, FIRST_BUILD_PAUSE_MS, LAST_BUILD_PAUSE_MS } from '../store/index.js';
import type { EventHub } from './event-hub.js';
import { cronPackageMissing, noScheduleModule, SHUTTING_DOWN, wrongCron } from './module.messages.js';
import type { CronJob as StartedJob } from 'cron';

/**
 * Pauses between two questions whether a filter is ready, or its build is due; they double up to the last.
 */
const FIRST_QUESTION_MS = 1000;
const LAST_QUESTION_MS = 5000;

const RECOVERY: BuildOccasion = { kind: 'recovery' };

/**
 * Starts rebuilds: by the clock, at start, and when a filter was lost. The store knows for all instances
 * whether a build is due; the lock decides which instance makes it.
 */
export class RebuildScheduler {
  private readonly stopping = new AbortController();
  private readonly recovering = new Map<ManagedFilter, Promise<void>>();
  /** When the schedule of a filter fired last in this process, and whether its last build failed. */
  private readonly asked = new WeakMap<ManagedFilter, { readonly at: number; hasFailed: boolean }>();
  /** Each ends a schedule. */
  private readonly schedules: (() => void)[] = [];
  private filters: readonly ManagedFilter[] = [];

  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly events: EventHub,
  ) {
    this.events.listen((event) => this.onEvent(event));
  }

  /**
   * @throws {BloomConfigError} for an invalid cron expression, and when a package that it needs is missing.
   */
  async start(filters: readonly ManagedFilter[]): Promise<void> {
    this.filters = filters.filter(({ definition }) => definition.source);
    for (const filter of this.filters) await this.schedule(filter);
    for (const filter of this.filters) {
      const { onBoot } = filter.definition;
      void this.reportUnlessReady(filter, onBoot !== 'never');
      if (onBoot === 'always')
        void this.rebuild(filter, { occasion: RECOVERY }).then(() => this.recover(filter));
      else if (onBoot === 'if-missing') this.recover(filter);
    }
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error(SHUTTING_DOWN));
    for (const end of this.schedules.splice(0)) end();
    await Promise.allSettled(this.recovering.values());
  }

  private async schedule(filter: ManagedFilter): Promise<void> {
    const { name, cron, timeZone, everyMs } = filter.definition;
    if (everyMs === undefined && cron === undefined) return;
    const nextTimes: (() => Date | undefined)[] = [];
    filter.nextRunAt = () => earliest(nextTimes.map((nextAt) => nextAt()));
    this.schedules.push(() => (filter.nextRunAt = undefined));
    if (everyMs !== undefined) {
      let firedAt = performance.now();
      const timer = setInterval(() => {
        firedAt = performance.now();
        void this.rebuildByInterval(filter, everyMs);
      }, everyMs);
      nextTimes.push(() => new Date(Date.now() + firedAt + everyMs - performance.now()));
      this.schedules.push(() => clearInterval(timer));
    }
    if (cron === undefined) return;
    const fires = new CronFires();
    const job = await startCronJob(this.moduleRef, {
      filter: name,
      cron,
      timeZone,
      onFire: (nextAt) => void this.rebuildBySchedule(filter, fires.withinMs(nextAt)),
    });
    nextTimes.push(() => job.nextAt());
    this.schedules.push(() => job.end());
  }

  private onEvent(event: BloomEvent): void {
    if (event.type !== 'state-changed' || event.state === 'ready') return;
    const filter = this.filters.find(({ name }) => name === event.filter);
    if (filter) this.recover(filter);
  }

  /** Rebuilds a filter that is not ready, and tries again until some process has. */
  private recover(filter: ManagedFilter): void {
    if (this.recovering.has(filter) || this.stopping.signal.aborted) return;
    const recovery = this.untilReady(filter)
      .catch(() => {})
      .finally(() => this.recovering.delete(filter));
    this.recovering.set(filter, recovery);
  }

  private async untilReady(filter: ManagedFilter): Promise<void> {
    const { signal } = this.stopping;
    // Counts the failures of this process, in case the store keeps no facts about builds.
    let failurePauseMs = FIRST_BUILD_PAUSE_MS;
    for (let pauseMs = FIRST_QUESTION_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_QUESTION_MS)) {
      if (await this.isReady(filter)) return;
      let began = false;
      const { dueInMs = 0, error } = await this.rebuild(filter, {
        occasion: RECOVERY,
        unless: ({ state }) => (state === 'ready' ? 'The filter is ready.' : undefined),
        onProgress: () => (began = true),
      });
      if (await this.isReady(filter)) return;
      const { retryAfterMs = 0 } = error instanceof BloomRebuildError ? error : {};
      let waitMs = Math.max(dueInMs > 0 ? dueInMs : pauseMs, retryAfterMs);
      if (error && began) {
        waitMs = Math.max(waitMs, failurePauseMs);
        failurePauseMs = Math.min(2 * failurePauseMs, LAST_BUILD_PAUSE_MS);
      }
      await systemClock.sleep(later(waitMs), signal);
    }
  }

  private async reportUnlessReady(filter: ManagedFilter, isBuilt: boolean): Promise<void> {
    try {
      const { state } = await filter.info();
      if (state !== 'ready') this.events.emit({ type: 'not-ready', filter: filter.name, state, isBuilt });
    } catch {
      // What recovers the filter asks the same, and reports the error.
    }
  }

  private async isReady(filter: ManagedFilter): Promise<boolean> {
    this.stopping.signal.throwIfAborted();
    try {
      return (await filter.info()).state === 'ready';
    } catch (error) {
      this.events.emit({ type: 'store-error', filter: filter.name, operation: 'describe', error });
      return false;
    }
  }

  private async rebuildByInterval(filter: ManagedFilter, everyMs: number): Promise<void> {
    const { signal } = this.stopping;
    // A little earlier than due is soon enough, since timers and servers are late by different times.
    const toleranceMs = Math.min(everyMs / 10, 5000);
    try {
      await systemClock.sleep(Math.random() * Math.min(everyMs / 20, 1000), signal);
    } catch {
      return;
    }
    await this.rebuildBySchedule(filter, everyMs - toleranceMs);
  }

  private async rebuildBySchedule(filter: ManagedFilter, withinMs: number): Promise<void> {
    const before = this.asked.get(filter);
    const asked = { at: performance.now(), hasFailed: before?.hasFailed ?? false };
    this.asked.set(filter, asked);
    const failedMs = before?.hasFailed ? Math.floor(asked.at - before.at) : undefined;
    const { outcome, error } = await this.rebuild(filter, {
      occasion: { kind: 'scheduled', withinMs, failedMs },
    });
    if (error || outcome === 'published') asked.hasFailed = error !== undefined;
  }

  /** An event has reported the error of a run that fails. */
  private rebuild(
    filter: ManagedFilter,
    request: RebuildRequest,
  ): Promise<{ readonly outcome?: string; readonly dueInMs?: number; readonly error?: unknown }> {
    return filter
      .rebuild({ ...request, signal: this.stopping.signal })
      .catch((error: unknown) => ({ error }));
  }
}

/** Up to a quarter later, so that instances do not ask all at once. */
function later(ms: number): number {
  return ms * (1 + Math.random() / 4);
}

function earliest(times: readonly (Date | undefined)[]): Date | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length > 0 ? new Date(Math.min(...known.map((time) => time.getTime()))) : undefined;
}

export interface CronJobOptions {
  readonly filter: string;
  /** The expression, such as `0 4 * * *`. */
  readonly cron: string;
  /** IANA time zone; undefined: that of the process. */
  readonly timeZone: string | undefined;
  /** @param nextAt when it fires next, as `Date.now()` counts. */
  readonly onFire: (nextAt: number) => void;
}

/**
 * Starts a job named `bloom:<filter>` in the registry of `@nestjs/schedule`. That package and `cron` are
 * loaded here alone, so only an application with `rebuild.cron` needs them.
 */
export async function startCronJob(
  moduleRef: ModuleRef,
  { filter, cron, timeZone, onFire }: CronJobOptions,
): Promise<{ end(): void; nextAt(): Date | undefined }> {
  const { SchedulerRegistry } = await import('@nestjs/schedule').catch(missing(filter, '@nestjs/schedule'));
  const { CronJob } = await import('cron').catch(missing(filter, 'cron'));
  const registry = registryOf(() => moduleRef.get(SchedulerRegistry, { strict: false }), filter);
  const name = `bloom:${filter}`;
  let job: StartedJob;
  try {
    job = CronJob.from({
      cronTime: cron,
      onTick: () => onFire(job.nextDate().toMillis()),
      timeZone: timeZone ?? null,
    });
  } catch (cause) {
    throw new BloomConfigError(wrongCron(filter, { cron, timeZone }, (cause as Error).message), { cause });
  }
  // Refuses a job of the application with this name, in words of its own.
  registry.addCronJob(name, job);
  job.start();
  return {
    nextAt: () => (job.isActive ? job.nextDate().toJSDate() : undefined),
    end: () => {
      if (registry.doesExist('cron', name)) registry.deleteCronJob(name);
    },
  };
}

function missing(filter: string, name: string): (cause: unknown) => never {
  return (cause) => {
    throw new BloomConfigError(cronPackageMissing(filter, name), { cause });
  };
}

function registryOf<Registry>(get: () => Registry, filter: string): Registry {
  try {
    return get();
  } catch (cause) {
    throw new BloomConfigError(noScheduleModule(filter), { cause });
  }
}

/** Clocks of instances may differ by this, in milliseconds: another fire within it counts as the same. */
const MAX_SKEW_MS = 60_000;

/** When a cron expression fired here, and so how old a build may be that is enough for this fire. */
export class CronFires {
  private firedAt = -Infinity;

  constructor(private readonly now: () => number = Date.now) {}

  /** Returns a time shorter than the pauses before and after this fire, in milliseconds. */
  withinMs(nextAt: number): number {
    const now = this.now();
    const before = now - this.firedAt;
    this.firedAt = now;
    return Math.min(MAX_SKEW_MS, Math.max(0, nextAt - now) / 2, before / 2);
  }
}
