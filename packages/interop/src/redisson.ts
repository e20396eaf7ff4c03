import type { BloomLayout } from 'nestjs-bloom/store';
import { checkRedissonOptions, redissonCodec, type RedissonLayoutOptions } from './formats/index.js';
import { redissonFormat } from './redis/bitmap/index.js';
import { bitmapLayout } from './bitmap-layout.js';

/**
 * The layout of Redisson's `RBloomFilter`, on its very keys in Redis; its members make and read such filters in memory.
 *
 * @throws {BloomConfigError} for an option that cannot work, or that it does not have.
 */
export const redisson = Object.assign(function redisson(options: RedissonLayoutOptions): BloomLayout {
  checkRedissonOptions(options);
  return bitmapLayout({
    kind: 'redisson',
    maker: 'redisson',
    key: options.name,
    options,
    bytes: (target) => redissonCodec.plan(target).bytes,
    format: () => redissonFormat(options),
  });
}, redissonCodec);
