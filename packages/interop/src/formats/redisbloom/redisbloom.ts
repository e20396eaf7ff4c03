import { plannerOf } from '../../layout-plan.js';
import { chainErrorRate } from './chain-model.js';
import type { Geometry } from '../bitmap/geometry.js';
import type { RedisBloomChunk } from '../dump/dump-chunks.js';
import { checkSameHeader } from '../dump/dump-parts.js';
import { RedisBloomFilter } from './redisbloom-filter.js';
import { RedisBloomHash } from './redisbloom-hash.js';
import { RedisBloomLayout } from './redisbloom-layout.js';
import { RedisBloomLink } from './redisbloom-link.js';
import { REDISBLOOM_DUMP, RedisBloomLoader } from './redisbloom-loader.js';
import { chainOf, type LinkGeometry, linkSize, type RedisBloomTarget } from './redisbloom-size.js';

/** How a filter of `BF.*` is to grow: see `BF.RESERVE`. */
export type RedisBloomGrowth = Pick<RedisBloomTarget, 'expansion' | 'nonScaling'>;

/** Filters of RedisBloom, Redis 8 `BF.*` (layout 5). */
export const redisBloomCodec = {
  ...plannerOf<RedisBloomGrowth>({
    kind: 'redisbloom',
    size: (target, settings) => {
      const { bits, hashCount } = linkSize(chainOf({ ...settings, ...target }).first);
      return { bits, hashCount };
    },
    errorRate: ({ layout, capacity, errorRate }, ids) =>
      chainErrorRate({ ...layout, capacity, errorRate }, ids),
  }),

  /**
   * Bits and hash count of the first link that `BF.RESERVE` would make.
   *
   * @throws {BloomConfigError} for what Redis 8 refuses too.
   */
  size(target: RedisBloomTarget): LinkGeometry {
    return linkSize(chainOf(target).first);
  },

  /** The layout of one link. */
  layout(options: Geometry): RedisBloomLayout {
    return new RedisBloomLayout(options);
  },

  /**
   * An empty filter, as `BF.RESERVE` makes it.
   *
   * @throws {BloomConfigError} for what Redis 8 refuses too.
   */
  create(options: RedisBloomTarget): RedisBloomFilter {
    const { first, ...settings } = chainOf(options);
    const hash = new RedisBloomHash();
    const link = new RedisBloomLink({ ...first, ...linkSize(first), items: 0 }, hash);
    return new RedisBloomFilter([link], hash, settings);
  },

  /**
   * A filter from the replies of `BF.SCANDUMP`, in any order after the first; the empty one at the end may be left out. It has every id
   * that was added before the first chunk was asked for, if the key was not replaced meanwhile. Pass the reply to iterator 0 once more,
   * asked for at the end, or all chunks of a second dump: what was changed in between is refused.
   *
   * @throws {BloomFormatError} when chunks are missing, do not fit their header, or are of different moments as far as that can be known.
   */
  read(chunks: Iterable<RedisBloomChunk>): RedisBloomFilter {
    const loader = new RedisBloomLoader();
    let header: Uint8Array | undefined;
    for (const chunk of chunks) {
      if (chunk.iterator === 0 && chunk.data.length === 0) continue;
      if (header !== undefined && chunk.iterator === 1) checkSameHeader(header, chunk.data, REDISBLOOM_DUMP);
      else loader.load(chunk);
      header ??= chunk.data;
    }
    return loader.finish();
  },
} as const;
