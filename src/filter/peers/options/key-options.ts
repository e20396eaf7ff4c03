import { BloomConfigError } from '../../../common/index.js';
import type { ExpectOption } from '../../layout-options.js';
import { ADOPT, FOREIGN_ADDS, hasNoRebuild, noAdoptWithSource, PEERS_KEY } from './options.messages.js';

/**
 * What a rebuild keeps of the bits that peers set in the live string while it runs. `keep`: all live bits, so that no id of a peer
 * is lost; ids that were deleted are not shed. `none`: for a key that nobody else writes to.
 */
export type ForeignAdds = 'keep' | 'none';

/** When a key of other systems, in a filter without a source, is taken as it is. */
export type Adopt = 'first-sight' | 'explicit';

/** The options of every layout of bits on a key of other systems. */
export interface PeerKeyOptions {
  /** What a rebuild keeps of the bits that others set while it runs. Default `keep`. */
  readonly foreignAdds?: ForeignAdds | undefined;
  /**
   * Without a source: when the key is taken as it is. `first-sight` (default): as soon as it is there, so let its owner fill it
   * before, or fill another key and rename it. `explicit`: when `filter.adopt()` is called.
   */
  readonly adopt?: Adopt | undefined;
}

/** @throws {BloomConfigError} */
export function checkPeersKey(expect: ExpectOption, option: string, key: unknown): void {
  expect(option, key, PEERS_KEY, typeof key === 'string' && key !== '');
}

/** @throws {BloomConfigError} */
export function checkAdopt(expect: ExpectOption, adopt: unknown): void {
  expect('adopt', adopt, ADOPT, adopt === undefined || adopt === 'first-sight' || adopt === 'explicit');
}

/** @throws {BloomConfigError} */
export function checkKeyOptions(expect: ExpectOption, { foreignAdds, adopt }: PeerKeyOptions): void {
  checkAdopt(expect, adopt);
  expect('foreignAdds', foreignAdds, FOREIGN_ADDS, [undefined, 'keep', 'none'].includes(foreignAdds));
}

/** What is said of rebuilds, and of a key that is taken as it is. */
export interface RebuildOptions extends PeerKeyOptions {
  readonly resize?: boolean | undefined;
}

/**
 * Refuses what would have no effect: an option of rebuilds in a filter that is never rebuilt, and one of a key that is taken as it is in
 * a filter with a source.
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
