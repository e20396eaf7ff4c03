import type { FilterTarget } from 'nestjs-bloom/filter';
import type { RedisLayout } from 'nestjs-bloom/internal';
import type { BloomLayout } from 'nestjs-bloom/store';
import { openBf } from '../redis/bf/open-bf.js';
import { checkRebuildOptions } from './key-options.js';
import { LAYOUT_NUMBERS } from './layout-numbers.js';
import { checkRedisBloomOptions, type RedisBloomLayoutOptions } from './redis-bloom-chain.js';
import { redisBloomCodec } from './redis-bloom-filter.js';

/**
 * The layout of the commands `BF.*`: Redis 8, Redis Stack, Valkey with valkey-bloom, Dragonfly. Its members
 * make and read such filters in memory.
 *
 * @throws {BloomConfigError} for an option that cannot work, or that it does not have.
 */
export const redisBloom = Object.assign(function redisBloom(
  options: RedisBloomLayoutOptions = {},
): BloomLayout {
  checkRedisBloomOptions(options);
  return redisBloomLayout(options);
}, redisBloomCodec);

function redisBloomLayout(options: RedisBloomLayoutOptions): RedisLayout {
  const { key, expansion, nonScaling, adopt } = options;
  const bytes = ({ capacity, errorRate }: FilterTarget) =>
    redisBloomCodec.plan({ capacity, errorRate, expansion, nonScaling }).bytes;
  return {
    kind: 'redisbloom',
    number: LAYOUT_NUMBERS.redisbloom,
    hasFixedSize: false,
    isMadeByOthers: key !== undefined,
    waitsForAdopt: adopt === 'explicit',
    grows: false,
    canRemove: false,
    claimedKey: key,
    check(use) {
      checkRebuildOptions('redisBloom', { adopt }, use.hasSource);
      bytes(use);
    },
    bytes,
    openRedis: (context) => openBf(context, options),
  };
}
