import { BLOCKED_LAYOUT } from 'nestjs-bloom/filter';

/** The numbers under which layouts are stored. A number never changes its meaning; 6 is taken. */
export const LAYOUT_NUMBERS = {
  /** This library's own. */
  blocked: BLOCKED_LAYOUT,
  /** go-zero `core/bloom`. */
  'go-zero': 2,
  /** Google Guava `BloomFilter`; its strategy and its funnel belong to the settings. */
  guava: 3,
  /** Redisson `RBloomFilter`; its codec belongs to the settings. */
  redisson: 4,
  /** RedisBloom `BF.*`. */
  redisbloom: 5,
  /** RedisBloom `CF.*`. */
  cuckoo: 7,
} as const;

/** How the bits of an id are found, by whose rules. */
export type LayoutKind = keyof typeof LAYOUT_NUMBERS;
