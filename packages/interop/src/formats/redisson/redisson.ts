import { bitmapPlanner } from '../bitmap/bitmap-planner.js';
import type { FilterTarget } from 'nestjs-bloom/filter';
import type { Geometry } from '../bitmap/geometry.js';
import { checkRedisString } from '../bitmap/redis-string.js';
import type { RedissonSettings } from './codec.js';
import {
  readRedissonConfig,
  type RedissonConfig,
  type RedissonGeometry,
  writeRedissonConfig,
} from './redisson-config.js';
import { RedissonFilter } from './redisson-filter.js';
import { RedissonLayout } from './redisson-layout.js';
import { redissonSize } from './redisson-size.js';

/** Filters of Redisson's `RBloomFilter` (layout 4). */
export const redissonCodec = {
  ...bitmapPlanner('redisson', redissonSize),

  /**
   * Bits (`size`) and hash count (`hashIterations`) that `tryInit` would choose.
   *
   * @param target errorRate may be 0, which Redisson takes for the smallest double
   * @throws {BloomConfigError} for what Redisson refuses too.
   */
  size(target: FilterTarget): Geometry {
    return redissonSize(target);
  },

  /** The two Redis keys of a filter. */
  keys(name: string): { readonly bits: string; readonly config: string } {
    return { bits: name, config: name.includes('{') ? `${name}:config` : `{${name}}:config` };
  },

  /**
   * The hash under the config key, as numbers.
   *
   * @throws {BloomFormatError} when a field is missing, no canonical decimal, or beyond what Redisson could have written.
   */
  readConfig(config: Readonly<Partial<RedissonConfig>>): RedissonGeometry {
    return readRedissonConfig(config);
  },

  /** The hash under the config key, as `tryInit` writes it. */
  writeConfig(geometry: RedissonGeometry): RedissonConfig {
    return writeRedissonConfig(geometry);
  },

  /** @throws {BloomConfigError} when bits is not from 1 to 4,294,967,294, or there is no such codec. */
  layout(options: Geometry & RedissonSettings): RedissonLayout {
    return new RedissonLayout(options);
  },

  /**
   * An empty filter, of the size that `tryInit` would choose.
   *
   * @throws {BloomConfigError} for what Redisson refuses too.
   */
  create(options: FilterTarget & RedissonSettings): RedissonFilter {
    const { capacity, errorRate } = options;
    return new RedissonFilter(new RedissonLayout({ ...options, ...redissonSize(options) }), {
      capacity,
      errorRate,
    });
  },

  /** An empty filter of this size. Its `write` says that it is for as many ids as its bits make optimal. */
  empty(options: Geometry & RedissonSettings): RedissonFilter {
    const { bits, hashCount } = options;
    const capacity = Math.max(1, Math.floor((bits * Math.LN2) / hashCount));
    return new RedissonFilter(new RedissonLayout(options), { capacity, errorRate: 2 ** -hashCount });
  },

  /**
   * A filter from its two keys: the fields of the config hash, and the string (empty when there is no such key yet).
   *
   * @throws {BloomFormatError} when a field of the config is missing or damaged, or the string is longer than the filter.
   */
  read(
    dump: { readonly config: Readonly<Partial<RedissonConfig>>; readonly value: Uint8Array },
    options: RedissonSettings,
  ): RedissonFilter {
    const { capacity, errorRate, ...geometry } = readRedissonConfig(dump.config);
    const layout = new RedissonLayout({ ...options, ...geometry });
    checkRedisString(dump.value, layout);
    return new RedissonFilter(layout, { capacity, errorRate }, dump.value.slice());
  },
} as const;
