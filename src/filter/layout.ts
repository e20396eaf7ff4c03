import type { FilterTarget } from './filter-target.js';

/**
 * How the bits of a filter are laid out. The functions of `@nestjs-bloom/interop` and
 * `@nestjs-bloom/interop/scaling` make one; nothing needs to be known of it beyond its kind.
 */
export interface BloomLayout {
  /** By whose rules the bits of an id are found: `blocked`, `go-zero`, `redisson`, … */
  readonly kind: string;
  /** The number under which the layout is stored. It never changes its meaning. */
  readonly number: number;
}

/** What a layout is asked to be fit for. */
export interface LayoutUse extends FilterTarget {
  /** Whether the filter can be rebuilt. */
  readonly hasSource: boolean;
}

/**
 * What the services need of a layout. How a store opens a filter of it belongs to the store: see
 * `RedisLayout` and `MemoryLayout`. The default layout, `blocked`, is the one that every store has itself.
 */
export interface FilterLayout extends BloomLayout {
  /**
   * Whether the ids may outgrow the filter and a rebuild does not help, since all that use the key must agree
   * on its size.
   */
  readonly hasFixedSize: boolean;
  /** Whether other systems make the filter, on a key of theirs. */
  readonly isMadeByOthers: boolean;
  /** Whether a filter that others make is taken as it is only when `adopt()` is called. */
  readonly waitsForAdopt: boolean;
  /** Whether a full filter grows instead of being rebuilt, so that it has no source. */
  readonly grows: boolean;
  /** Whether ids can be removed again. */
  readonly canRemove: boolean;

  /**
   * @throws {BloomConfigError} when there can be no such filter, or an option of the layout would have no
   * effect in it.
   */
  check(use: LayoutUse): void;

  /**
   * Bytes of a stored filter.
   *
   * @throws {BloomConfigError} when there can be no such filter.
   */
  bytes(target: FilterTarget): number;
}

/** Whether a value is a layout, by whichever copy of this package it was made. */
export function isFilterLayout(value: unknown): value is FilterLayout {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, number, check, bytes } = value as Partial<FilterLayout>;
  return (
    [typeof kind, typeof number, typeof check, typeof bytes].join() === 'string,number,function,function'
  );
}
