import { BloomFullError, type IdKey } from 'nestjs-bloom/filter';
import { assertNotTooLong } from 'nestjs-bloom/internal';
import { redisBloomCodec, type RedisBloomFilter } from '../../formats/redis-bloom-filter.js';
import type { LocalFilter } from 'nestjs-bloom/store';
import { IdLog } from '../generation/id-log.js';
import type { ResolvedBf } from './resolved-bf.js';
import { localTarget } from './reserve.js';

export interface LocalChainOptions {
  readonly maxIdBytes: number;
  /** Keeps the ids too, for a server that cannot be given the bits. */
  readonly keepsIds: boolean;
}

/** A filter in this process as RedisBloom would make it, canaries included. */
export class LocalChain implements LocalFilter {
  readonly filter: RedisBloomFilter;
  /** Undefined unless ids are kept. */
  readonly ids: IdLog | undefined;
  isEmpty = true;
  /** Set when an id found no room: then the filter is not to be used. */
  overflow: BloomFullError | undefined;

  constructor(
    resolved: ResolvedBf,
    private readonly options: LocalChainOptions,
  ) {
    this.filter = redisBloomCodec.create(localTarget(resolved));
    this.ids = options.keepsIds ? new IdLog() : undefined;
    for (const canary of resolved.canaries) this.filter.add(canary);
  }

  addKey(id: IdKey): boolean {
    assertNotTooLong(id, this.options.maxIdBytes);
    this.isEmpty = false;
    // One that seems to be there may be an error of the filter, and is no less an id.
    this.ids?.append(id);
    try {
      return this.filter.add(id);
    } catch (error) {
      // The scan takes one id more than planned, by which it knows that it has to plan again.
      if (!(error instanceof BloomFullError)) throw error;
      this.overflow = error;
      return true;
    }
  }
}
