import { BloomConfigError, printed } from '../../../common/index.js';

/**
 * What a rebuild keeps of the bits that peers set in the live string while it runs. `keep`: all live bits, so that no id of a peer
 * is lost; ids that were deleted are not shed. `recent`: those set since the staging was made; a peer's id whose row the rebuild
 * did not read may be lost when a deleted id had set a bit of it before. `none`: for a key that nobody else writes to.
 */
export type ForeignAdds = 'keep' | 'recent' | 'none';

/** When a key of other systems, in a filter without a source, is taken as it is. */
export type Adopt = 'first-sight' | 'explicit';

/** The options of every layout of bits on a key of other systems. */
export interface ForeignKeyOptions {
  /** What a rebuild keeps of the bits that others set while it runs. Default `keep`. */
  readonly foreignAdds?: ForeignAdds | undefined;
  /**
   * Without a source: when the key is taken as it is. `first-sight` (default): as soon as it is there, so let its owner fill it
   * before, or fill another key and rename it. `explicit`: when `filter.adopt()` is called.
   */
  readonly adopt?: Adopt | undefined;
}

const FOREIGN_ADDS: readonly unknown[] = ['keep', 'recent', 'none'] satisfies ForeignAdds[];

/** So many that a few of them can prove whose string it is. */
const MIN_STORED_BITS = 64;
/** Redis knows no bits beyond. */
const MAX_STORED_BITS = 2 ** 32;

/** @throws {BloomConfigError} */
export function checkForeignKey(option: string, key: unknown): void {
  if (typeof key === 'string' && key !== '') return;
  throw new BloomConfigError(
    `Expected layout.${option} to be the Redis key that the other systems use, got ${printed(key)}.`,
  );
}

/** @throws {BloomConfigError} */
export function checkAdopt(adopt: unknown): void {
  if (adopt === undefined || adopt === 'first-sight' || adopt === 'explicit') return;
  throw new BloomConfigError(
    `Expected layout.adopt to be 'first-sight' or 'explicit', got ${printed(adopt)}.`,
  );
}

/** @throws {BloomConfigError} */
export function checkForeignOptions({ foreignAdds, adopt }: ForeignKeyOptions): void {
  checkAdopt(adopt);
  if (foreignAdds === undefined || FOREIGN_ADDS.includes(foreignAdds)) return;
  throw new BloomConfigError(
    `Expected layout.foreignAdds to be 'keep', 'recent' or 'none', got ${printed(foreignAdds)}.`,
  );
}

/** @throws {BloomConfigError} */
export function checkStoredBits(bits: unknown): void {
  const isSound = Number.isSafeInteger(bits) && (bits as number) >= MIN_STORED_BITS;
  if (isSound && (bits as number) <= MAX_STORED_BITS) return;
  throw new BloomConfigError(
    `Expected layout.bits to be the number of bits that every side uses, from ${MIN_STORED_BITS} to ${MAX_STORED_BITS}, got ` +
      `${printed(bits)}.`,
  );
}

/** What is said of rebuilds, and of a key that is taken as it is. */
export interface RebuildOptions extends ForeignKeyOptions {
  readonly resize?: boolean | undefined;
}

/**
 * Refuses what would have no effect: an option of rebuilds in a filter that is never rebuilt, and one of a key that is taken as it is in
 * a filter with a source.
 *
 * @throws {BloomConfigError}
 */
export function checkRebuildOptions(options: RebuildOptions, hasSource: boolean): void {
  const { foreignAdds = 'keep', resize = false, adopt = 'first-sight' } = options;
  if (hasSource && adopt !== 'first-sight') {
    throw new BloomConfigError(
      `Expected no layout.adopt with a source, got ${printed(adopt)}: the filter is made by its first rebuild, and never taken as it is. ` +
        'Leave out one of them.',
    );
  }
  if (hasSource) return;
  for (const [option, value, usual] of [
    ['foreignAdds', foreignAdds, 'keep'],
    ['resize', resize, false],
  ] as const) {
    if (value === usual) continue;
    throw new BloomConfigError(
      `Expected no layout.${option} without a source, got ${printed(value)}: it says what a rebuild does, and the filter has none. ` +
        'Give it a source, or leave it out.',
    );
  }
}
