import { type ExecutionContext, Inject, Injectable, type Type } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import { BloomConfigError, type BloomService } from 'nestjs-bloom';
import { BLOOM_SERVICE, checkOptions, type OptionNames, refusalsOf } from 'nestjs-bloom/integrations';
import { noClients, wrongThrottlerOption } from './throttler.messages.js';

/** By this name `@Throttle` and `@SkipThrottle` speak of the guard. */
const NAME = 'bloom';

/** Options of `BloomThrottlerGuard.of`. */
export interface BloomThrottlerOptions {
  /** Absent ids that a client may ask for within a minute. Default 100. */
  readonly limit?: number;
  /** How long a client that asks for more is refused, in milliseconds. Default 60,000. */
  readonly blockDuration?: number;
}

const OPTIONS = { limit: true, blockDuration: true } satisfies OptionNames<BloomThrottlerOptions>;

/**
 * Refuses with 429 and `Retry-After` the clients that ask for many absent ids: 100 within a minute, by
 * default for a minute. It counts no requests, and stands beside the `ThrottlerGuard`. The clients are those
 * that `attack.client` of `BloomModule.forRoot` names, counted by this process where `BloomInterceptor` sees
 * their requests; filters in `shadow` mode refuse nobody.
 *
 * It takes from `ThrottlerModule` `skipIf`, `setHeaders` and `errorMessage`. `@SkipThrottle({ bloom: true })`
 * leaves a route out.
 *
 * @example
 * providers: [
 *   { provide: APP_GUARD, useClass: BloomThrottlerGuard },
 *   { provide: APP_INTERCEPTOR, useClass: BloomInterceptor },
 * ]
 */
@Injectable()
export class BloomThrottlerGuard extends ThrottlerGuard {
  @Inject(BLOOM_SERVICE)
  private readonly bloom!: BloomService;

  /**
   * The guard with another limit.
   *
   * @throws {BloomConfigError} for an option that cannot work.
   */
  static of(options: BloomThrottlerOptions): Type<BloomThrottlerGuard> {
    checkOptions(options, { where: 'BloomThrottlerGuard.of()', known: OPTIONS });
    for (const option of ['limit', 'blockDuration'] as const) {
      const value: unknown = options[option];
      if (value !== undefined && !(typeof value === 'number' && value > 0 && value < Infinity))
        throw new BloomConfigError(wrongThrottlerOption(option, value));
    }
    @Injectable()
    class LimitedBloomThrottlerGuard extends BloomThrottlerGuard {
      protected override get limits(): BloomThrottlerOptions {
        return options;
      }
    }
    return LimitedBloomThrottlerGuard;
  }

  /** @throws {BloomConfigError} where nobody counts clients. */
  override async onModuleInit(): Promise<void> {
    if (!refusalsOf(this.bloom)) throw new BloomConfigError(noClients('BloomThrottlerGuard'));
    const { limit = 100, blockDuration = 60_000 } = this.limits;
    const throttlers = [{ name: NAME, limit, ttl: blockDuration }];
    // The throttlers of the application count requests, which is what its ThrottlerGuard is for.
    const options = Array.isArray(this.options) ? throttlers : { ...this.options, throttlers };
    Object.assign(this, { options });
    await super.onModuleInit();
  }

  protected get limits(): BloomThrottlerOptions {
    return {};
  }

  protected override async handleRequest(request: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl, blockDuration, throttler } = request;
    const refusals = refusalsOf(this.bloom);
    const client = refusals?.clientOf(context, { filter: '*', method: methodOf(context) });
    if (!refusals || client === undefined) return true;
    const refusedMs = refusals.refusedForMs(client, { limit, forMs: blockDuration });
    if (refusedMs === 0) return true;
    const seconds = Math.ceil(refusedMs / 1000);
    if (throttler.setHeaders ?? this.commonOptions.setHeaders ?? true) {
      setHeader(this.getRequestResponse(context).res, 'Retry-After', seconds);
    }
    await this.throwThrottlingException(context, {
      limit,
      ttl,
      key: client,
      tracker: client,
      totalHits: limit,
      timeToExpire: seconds,
      isBlocked: true,
      timeToBlockExpire: seconds,
    });
    return false;
  }
}

function methodOf(context: ExecutionContext): string {
  return `${context.getClass().name}.${context.getHandler().name}`;
}

/** A response of Express, Fastify, or a server of Node; no other response has headers. */
function setHeader(response: unknown, name: string, value: number): void {
  const { header, setHeader: set } = (response ?? {}) as Record<string, unknown>;
  if (typeof header === 'function') header.call(response, name, String(value));
  else if (typeof set === 'function') set.call(response, name, String(value));
}
