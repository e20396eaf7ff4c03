import { BitmapFilter } from '../bitmap/bitmap-filter.js';
import type { FilterTarget } from 'nestjs-bloom/filter';
import { type RedissonConfig, writeRedissonConfig } from './redisson-config.js';
import type { RedissonLayout } from './redisson-layout.js';

/** What Redisson keeps of a filter under its two keys. */
export interface RedissonDump {
  /** The hash under the config key. */
  readonly config: RedissonConfig;
  /** The string under the filter's name; empty while there is no such key. */
  readonly value: Uint8Array;
}

/** A filter of Redisson in the memory of this process. */
export class RedissonFilter extends BitmapFilter<RedissonLayout> {
  constructor(
    layout: RedissonLayout,
    readonly target: FilterTarget,
    bytes?: Uint8Array,
  ) {
    super(layout, bytes);
  }

  /** What Redisson would have written under the two keys. */
  write(): RedissonDump {
    const { bits, hashCount } = this.layout;
    const { capacity, errorRate } = this.target;
    return {
      config: writeRedissonConfig({ bits, hashCount, capacity, errorRate }),
      value: this.copyUsed(),
    };
  }

  protected override estimateIds(setBits: number): number {
    const { bits, hashCount } = this.layout;
    return setBits === 0 ? 0 : Math.round((-bits / hashCount) * Math.log(1 - setBits / bits));
  }
}
