import { checkOptionNames } from '../../layout-options.js';
import { BloomConfigError, printed } from '../../../common/index.js';
import { type Adopt, checkAdopt } from '../options/key-options.js';
import { chainOf } from './redisbloom-size.js';

/** A filter of the commands `BF.*`: Redis 8, Redis Stack, Valkey with valkey-bloom, Dragonfly. */
export interface RedisBloomLayoutOptions {
  /** The key that the peers use. Left out: a key of this filter's own, which nobody else writes to. */
  readonly key?: string | undefined;
  /** Ids of a further link, as a multiple of the last one's. Default 2. */
  readonly expansion?: number | undefined;
  /** Takes no more than `capacity` ids, instead of growing by links: an `add` beyond rejects with a `BloomFullError`. */
  readonly nonScaling?: boolean | undefined;
  /**
   * With a `key` and without a source: when the key is taken as it is. `first-sight` (default): as soon as it is there, so let its
   * owner fill it before, or fill another key and rename it. `explicit`: when `filter.adopt()` is called.
   */
  readonly adopt?: Adopt | undefined;
}

const OPTIONS: readonly string[] = ['key', 'expansion', 'nonScaling', 'adopt'];

/** @throws {BloomConfigError} for a layout that `BF.RESERVE` cannot make. */
export function checkRedisBloomOptions(options: RedisBloomLayoutOptions): void {
  checkOptionNames('redisBloom', options, OPTIONS);
  const { key, expansion, nonScaling, adopt } = options;
  if (key !== undefined && (typeof key !== 'string' || key === '')) {
    throw new BloomConfigError(`Expected layout.key to be the name of a key, got ${String(key) || "''"}.`);
  }
  if (nonScaling !== undefined && typeof nonScaling !== 'boolean') {
    throw new BloomConfigError(`Expected layout.nonScaling to be true or false, got ${String(nonScaling)}.`);
  }
  checkAdopt(adopt);
  if (adopt !== undefined && key === undefined) {
    throw new BloomConfigError(
      `Expected no layout.adopt without layout.key, got ${printed(adopt)}: the filter has a key of its own, which nobody else fills. ` +
        'Name the key of the other systems, or leave it out.',
    );
  }
  if (expansion === 0) {
    throw new BloomConfigError(
      'Expected layout.expansion to be at least 1, got 0. Set nonScaling: true for a filter that does not grow.',
    );
  }
  chainOf({ capacity: 1, errorRate: 0.01, expansion, nonScaling });
}
