import { BloomConfigError } from 'nestjs-bloom/filter';
import { type Expectation, isText, oneOf, type OptionTable } from 'nestjs-bloom/internal';
import { hasNoRebuild, noAdoptWithSource } from './formats.messages.js';

/** So many that a few of them can prove whose string it is. */
export const MIN_STRING_BITS = 64;
/** A Redis string has no bits beyond. */
export const MAX_STRING_BITS = 2 ** 32;

/**
 * What a rebuild keeps of the bits that peers set in the live string while it runs. `keep`: all live bits, so
 * that no id of a peer is lost; ids that were deleted are not shed. `none`: for a key that nobody else writes
 * to.
 */
export type ForeignAdds = 'keep' | 'none';

/** When a key of other systems, in a filter without a source, is taken as it is. */
export type Adopt = 'first-sight' | 'explicit';

/** The options of every layout of bits on a key of other systems. */
export interface PeerKeyOptions {
  /** What a rebuild keeps of the bits that others set while it runs. Default `keep`. */
  readonly foreignAdds?: ForeignAdds | undefined;
  /**
   * Without a source: when the key is taken as it is. `first-sight` (default): as soon as it is there, so let
   * its owner fill it before, or fill another key and rename it. `explicit`: when `filter.adopt()` is called.
   */
  readonly adopt?: Adopt | undefined;
}

export const PEERS_KEY: Expectation = ['the Redis key that the other systems use', isText];

export const KEY_OPTIONS = {
  foreignAdds: oneOf('keep', 'none'),
  adopt: oneOf('first-sight', 'explicit'),
} satisfies OptionTable<PeerKeyOptions>;

/** What is said of rebuilds, and of a key that is taken as it is. */
interface RebuildOptions extends PeerKeyOptions {
  readonly resize?: boolean | undefined;
}

/**
 * Refuses what would have no effect: an option of rebuilds in a filter that is never rebuilt, and one of a
 * key that is taken as it is in a filter with a source.
 *
 * @param layout name of the function that made the layout
 * @throws {BloomConfigError}
 */
export function checkRebuildOptions(layout: string, options: RebuildOptions, hasSource: boolean): void {
  const { foreignAdds = 'keep', resize = false, adopt = 'first-sight' } = options;
  if (hasSource) {
    if (adopt !== 'first-sight') throw new BloomConfigError(noAdoptWithSource(layout, adopt));
    return;
  }
  for (const [option, value, usual] of [
    ['foreignAdds', foreignAdds, 'keep'],
    ['resize', resize, false],
  ] as const) {
    if (value !== usual) throw new BloomConfigError(hasNoRebuild(layout, option, value));
  }
}
