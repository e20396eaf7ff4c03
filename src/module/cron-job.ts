import type { ModuleRef } from '@nestjs/core';
import type { CronJob as StartedJob } from 'cron';
import { BloomConfigError } from '../common/index.js';
import { cronPackageMissing, noScheduleModule, wrongCron } from './module.messages.js';

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
 * Starts a job named `bloom:<filter>` in the registry of `@nestjs/schedule`. That package and `cron` are loaded here alone, so only an
 * application with a filter that has `rebuild.cron` needs them.
 *
 * @throws {BloomConfigError} when one of them is missing, `ScheduleModule` is not imported, or the expression makes no sense.
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
