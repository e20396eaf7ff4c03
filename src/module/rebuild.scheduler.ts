import type { ModuleRef } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { CronJob } from 'cron';
import { BloomConfigError, type BloomEvent, BloomRebuildError, systemClock } from '../common/index.js';
import type { ManagedFilter } from '../service/index.js';
import type { EventHub } from './event.hub.js';

/** Pauses between attempts to bring a filter back double from the first to the last. */
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;

/** Starts rebuilds: by the clock, at start-up, and when a filter was lost. Which instance rebuilds is decided by the lease. */
export class RebuildScheduler {
  private readonly stopping = new AbortController();
  private readonly recovering = new Map<ManagedFilter, Promise<void>>();
  private registry: SchedulerRegistry | undefined;
  private filters: readonly ManagedFilter[] = [];

  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly events: EventHub,
  ) {}

  /** @throws {BloomConfigError} for a cron expression that makes no sense, and when `ScheduleModule` is not imported. */
  start(filters: readonly ManagedFilter[]): void {
    this.filters = filters.filter(({ definition }) => definition.source);
    for (const filter of this.filters) this.schedule(filter);
    this.events.listen((event) => this.onEvent(event));
    for (const filter of this.filters) {
      const { onBoot } = filter.definition;
      if (onBoot === 'if-missing') this.recover(filter);
      if (onBoot === 'always') void this.rebuild(filter).then(() => this.recover(filter));
    }
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error('The application is shutting down.'));
    for (const filter of this.filters) this.unschedule(filter);
    await Promise.allSettled(this.recovering.values());
  }

  private schedule(filter: ManagedFilter): void {
    const { cron, timeZone, everyMs } = filter.definition;
    if (cron === undefined && everyMs === undefined) return;
    const registry = this.schedulerRegistry(filter.name);
    const tick = () => void this.rebuild(filter);
    if (everyMs !== undefined) {
      registry.addInterval(jobName(filter), setInterval(tick, everyMs));
      return;
    }
    try {
      registry.addCronJob(
        jobName(filter),
        CronJob.from({ cronTime: cron!, onTick: tick, start: true, timeZone: timeZone ?? null }),
      );
    } catch (cause) {
      throw new BloomConfigError(
        `Filter '${filter.name}': expected rebuild.cron to be a cron expression such as '0 4 * * *' and rebuild.timeZone an IANA ` +
          `time zone, got '${cron}' and '${timeZone}'. ${(cause as Error).message}`,
        { cause },
      );
    }
  }

  private unschedule(filter: ManagedFilter): void {
    const { registry } = this;
    if (registry?.doesExist('interval', jobName(filter))) registry.deleteInterval(jobName(filter));
    if (registry?.doesExist('cron', jobName(filter))) registry.deleteCronJob(jobName(filter));
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
    for (let pauseMs = FIRST_RETRY_MS; ; pauseMs = Math.min(pauseMs * 2, LAST_RETRY_MS)) {
      if (await this.isReady(filter)) return;
      const error = await this.rebuild(filter, true);
      if (await this.isReady(filter)) return;
      const { retryAfterMs = 0 } = error instanceof BloomRebuildError ? error : {};
      await systemClock.sleep(Math.max(pauseMs, retryAfterMs), signal);
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

  /** Returns what a run failed with, which has been reported by an event. */
  private async rebuild(filter: ManagedFilter, onlyIfNotReady = false): Promise<unknown> {
    const unless = ({ state }: { state: string }) => (state === 'ready' ? 'The filter is ready.' : undefined);
    const { signal } = this.stopping;
    const run = filter.rebuild(onlyIfNotReady ? { signal, unless } : { signal });
    return run.then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  private schedulerRegistry(filter: string): SchedulerRegistry {
    try {
      this.registry ??= this.moduleRef.get<SchedulerRegistry>(SchedulerRegistry, { strict: false });
      return this.registry;
    } catch (cause) {
      throw new BloomConfigError(
        `Filter '${filter}' has a rebuild schedule, but ScheduleModule is not imported. Add ScheduleModule.forRoot() of ` +
          '@nestjs/schedule to the imports of the application module.',
        { cause },
      );
    }
  }
}

function jobName(filter: ManagedFilter): string {
  return `bloom:${filter.name}`;
}
