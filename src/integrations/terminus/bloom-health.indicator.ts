import { Inject, Injectable, Optional } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { BloomConfigError, describeError } from '../../common/index.js';
import { BLOOM_SERVICE } from '../../module/index.js';
import type { BloomFilterInfo, BloomService } from '../../service/index.js';
import { noRootOf } from '../index.js';
import {
  type BloomHealthOptions,
  type BloomUnreadyState,
  checkHealthOptions,
} from './bloom-health-options.js';
import { SharedInfos } from './shared-infos.js';
import { noAnswerInTime, notProtecting, tooManyPass, tooOld } from './terminus.messages.js';

const TIMEOUT_MS = 1000;

/** What is wrong with a filter, and the facts that show it. */
interface Finding {
  readonly isHealthy: boolean;
  readonly message?: string;
  readonly state: string;
  readonly [fact: string]: unknown;
}

/**
 * A health indicator of `@nestjs/terminus` for the filters of the application. Name it in the `providers` of the module that imports `TerminusModule`.
 *
 * @example
 * ```ts
 * @Get('ready')
 * @HealthCheck()
 * ready() {
 *   return this.health.check([() => this.bloom.isHealthy('products', { maxAgeMs: 26 * 3_600_000 })]);
 * }
 * ```
 */
@Injectable()
export class BloomHealthIndicator {
  private readonly service: BloomService;
  private readonly infos: SharedInfos;

  /**
   * Called by Nest.
   *
   * @internal
   * @throws {BloomConfigError} without `BloomModule.forRoot()`.
   */
  constructor(
    @Inject(HealthIndicatorService) private readonly results: HealthIndicatorService,
    @Optional() @Inject(BLOOM_SERVICE) service?: BloomService,
  ) {
    if (!service) throw new BloomConfigError(noRootOf('BloomHealthIndicator'));
    this.service = service;
    this.infos = new SharedInfos(service);
  }

  /**
   * For a readiness probe: asks the store how the filter stands. Up unless an option asks for more, since an application whose filter does not protect still
   * answers; the result names the state. The store is asked once a second at most, however many probes there are.
   *
   * @throws {BloomConfigError} when no filter of this name is registered, and for options that cannot work.
   */
  async isHealthy(filter: string, options: BloomHealthOptions = {}): Promise<HealthIndicatorResult> {
    checkHealthOptions(options);
    const { isHealthy, ...facts } = await this.find(filter, options);
    const session = this.results.check(options.key ?? filter);
    return isHealthy ? session.up(facts) : session.down(facts);
  }

  /**
   * For a liveness probe: always up, without asking the store, since a restart of the process mends no filter. The result names the state and the mode
   * as this process knows them.
   *
   * @throws {BloomConfigError} when no filter of this name is registered.
   */
  async isAlive(filter: string): Promise<HealthIndicatorResult> {
    const { name } = this.service.guardable(filter);
    const metrics = this.service.metrics().find((one) => one.filter === name);
    return this.results.check(filter).up({ state: metrics?.state ?? 'unknown', mode: metrics?.mode });
  }

  private async find(
    name: string,
    { allow = ['unknown'], maxAgeMs, maxErrorRate, timeoutMs = TIMEOUT_MS }: BloomHealthOptions,
  ): Promise<Finding> {
    const answer = this.infos.of(name);
    let info: BloomFilterInfo;
    try {
      info = await within(answer, timeoutMs);
    } catch (error) {
      return unready('unavailable', allow, describeError(error));
    }
    const { state, builtAt, modelledErrorRate, errorRate } = info;
    if (state !== 'ready') return unready(state, allow, notProtecting(state));
    const ageMs = builtAt && Math.max(0, Date.now() - builtAt.getTime());
    const message =
      ageMs !== undefined && maxAgeMs !== undefined && ageMs > maxAgeMs
        ? tooOld(ageMs, maxAgeMs)
        : modelledErrorRate !== undefined && maxErrorRate !== undefined && modelledErrorRate > maxErrorRate
          ? tooManyPass(modelledErrorRate, maxErrorRate)
          : undefined;
    return {
      isHealthy: message === undefined,
      ...(message !== undefined && { message }),
      state,
      ...(builtAt && { builtAt: builtAt.toISOString(), ageMs }),
      errorRate,
      ...(modelledErrorRate !== undefined && { modelledErrorRate }),
    };
  }
}

function unready(state: BloomUnreadyState, allow: readonly BloomUnreadyState[], message: string): Finding {
  return { isHealthy: allow.includes(state) || allow.includes('unknown'), state, message };
}

/** @throws an Error when there is no answer in time. */
async function within<Value>(answer: Promise<Value>, timeoutMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(noAnswerInTime(timeoutMs))), timeoutMs);
  });
  try {
    return await Promise.race([answer, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
