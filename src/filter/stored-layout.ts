import { BloomConfigError, printed } from '../common/index.js';
import type { Demand } from './peers/bits/geometry.js';
import { checkCuckooLayout, type CuckooStoredLayout } from './peers/cuckoo/cuckoo-stored-layout.js';
import { checkGoZeroLayout, type GoZeroStoredLayout } from './peers/go-zero/go-zero-stored-layout.js';
import { checkGuavaLayout, type GuavaStoredLayout } from './peers/guava/guava-stored-layout.js';
import { planFilter } from './plan.js';
import {
  checkRedisBloomLayout,
  type RedisBloomStoredLayout,
} from './peers/redisbloom/redisbloom-stored-layout.js';
import { checkRedissonLayout, type RedissonStoredLayout } from './peers/redisson/redisson-stored-layout.js';
import { checkScaling, type ScalingOptions } from './scaling/scaling-plan.js';
import {
  checkSpringLayout,
  springStoredSize,
  type SpringStoredLayout,
} from './peers/spring/spring-stored-layout.js';

/** This library's own layout, which no other system reads. */
export interface BlockedStoredLayout {
  readonly kind: 'blocked';
  /** Grows by layers instead of being rebuilt: for ids that no source knows, of whom nobody knows how many. */
  readonly scaling?: ScalingOptions | undefined;
}

/** How a stored filter is laid out, and what else its store has to know of that. */
export type StoredLayout =
  | BlockedStoredLayout
  | CuckooStoredLayout
  | GoZeroStoredLayout
  | GuavaStoredLayout
  | RedisBloomStoredLayout
  | RedissonStoredLayout
  | SpringStoredLayout;

/** Whether the ids of a filter may outgrow it and a rebuild does not help: its size is a matter of all that use the key. */
export function hasFixedSize(layout: StoredLayout): boolean {
  return FIXED_SIZES.includes(layout?.kind);
}

/** Whether other systems make the filter, on a key of theirs. */
export function isMadeByOthers(layout: StoredLayout): boolean {
  return hasFixedSize(layout) || (layout?.kind === 'redisbloom' && layout.key !== undefined);
}

/**
 * Bytes of a stored filter: those that every side was told, or by its plan.
 *
 * @throws {BloomConfigError} when the peer, or this library, cannot make such a filter.
 */
export function storedBytes(layout: StoredLayout, { capacity, errorRate }: Demand): number {
  switch (layout.kind) {
    case 'go-zero':
      return Math.ceil(layout.bits / 8);
    case 'spring':
      return Math.ceil(springStoredSize(layout).bits / 8);
    default:
      return planFilter({ capacity, errorRate, layout }).bytes;
  }
}

const FIXED_SIZES: readonly string[] = [
  'go-zero',
  'guava',
  'redisson',
  'spring',
] satisfies StoredLayout['kind'][];

/** Kinds of layouts that a filter of the module may have. */
const KINDS: readonly string[] = [
  'blocked',
  'cuckoo',
  'go-zero',
  'guava',
  'redisbloom',
  'redisson',
  'spring',
] satisfies StoredLayout['kind'][];

/**
 * Checks the settings of a layout.
 *
 * @throws {BloomConfigError} for a layout that cannot work, or that there is not.
 */
export function checkStoredLayout(layout: StoredLayout): void {
  switch (layout?.kind) {
    case 'blocked':
      if (layout.scaling !== undefined) checkScaling(layout.scaling);
      return;
    case 'cuckoo':
      return checkCuckooLayout(layout);
    case 'go-zero':
      return checkGoZeroLayout(layout);
    case 'guava':
      return checkGuavaLayout(layout);
    case 'redisbloom':
      return checkRedisBloomLayout(layout);
    case 'redisson':
      return checkRedissonLayout(layout);
    case 'spring':
      return checkSpringLayout(layout);
    default:
      throw new BloomConfigError(
        `Expected layout to be 'blocked' or an object whose kind is one of ${KINDS.join(', ')}, got ${printed(layout)}.`,
      );
  }
}
