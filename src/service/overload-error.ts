import { ServiceUnavailableException } from '@nestjs/common';
import { helpOn } from '../common/index.js';

const RETRY_AFTER_SECONDS = 5;

/**
 * Thrown in place of a guarded method: the filter cannot judge the id, and as many such lookups as may run
 * and wait do so already (`onUnknown`). It says nothing about the id. Nest answers a route with 503, and
 * `BloomModule` adds the header `Retry-After`.
 */
export class BloomOverloadError extends ServiceUnavailableException {
  /** Stable: for programs. */
  readonly code = 'BLOOM_OVERLOAD';
  /** Address at which the code is explained. */
  readonly help: string = helpOn(this.code);
  /** Time before which another attempt is of little use. */
  readonly retryAfterSeconds: number = RETRY_AFTER_SECONDS;

  constructor(
    /** The filter's name. */
    readonly filter: string,
  ) {
    super();
  }
}
