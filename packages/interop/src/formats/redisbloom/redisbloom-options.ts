import { BloomConfigError } from 'nestjs-bloom/filter';
import { checkOptions, isText, type OptionTable, TRUE_OR_FALSE } from 'nestjs-bloom/internal';
import { type Adopt, KEY_OPTIONS } from '../options/key-options.js';
import { noAdoptWithoutKey, noExpansion } from '../peers.messages.js';
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

const OPTIONS = {
  key: ['the name of a key', isText],
  expansion: true,
  nonScaling: TRUE_OR_FALSE,
  adopt: KEY_OPTIONS.adopt,
} satisfies OptionTable<RedisBloomLayoutOptions>;

/** @throws {BloomConfigError} for a layout that `BF.RESERVE` cannot make. */
export function checkRedisBloomOptions(options: RedisBloomLayoutOptions): void {
  checkOptions(options, { where: 'redisBloom()', known: OPTIONS });
  const { key, expansion, nonScaling, adopt } = options;
  if (adopt !== undefined && key === undefined) {
    throw new BloomConfigError(noAdoptWithoutKey('redisBloom', adopt));
  }
  if (expansion === 0) throw new BloomConfigError(noExpansion('redisBloom'));
  chainOf({ capacity: 1, errorRate: 0.01, expansion, nonScaling });
}
