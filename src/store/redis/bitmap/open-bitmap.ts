import type { StagePlan } from '../../index.js';
import type {
  GoZeroStoredLayout,
  GuavaStoredLayout,
  RedissonStoredLayout,
  SpringStoredLayout,
} from '../../../filter/index.js';
import { DrivenFilter, type DrivenFilterOptions } from '../protocol/driven-filter.js';
import { GenerationKeys } from '../protocol/generation-keys.js';
import type { BitmapFormat } from './bitmap-format.js';
import { BitmapDriver } from './bitmap-driver.js';
import { BitmapScripts } from './bitmap-scripts.js';
import { goZeroFormat } from './go-zero-format.js';
import { guavaFormat } from './guava-format.js';
import type { ResolvedBitmap } from './resolved-bitmap.js';
import { redissonFormat } from './redisson-format.js';
import { springFormat } from './spring-format.js';

/** Layouts whose bits are one row in a Redis string of the peers. */
export type BitmapStoredLayout =
  GoZeroStoredLayout | GuavaStoredLayout | RedissonStoredLayout | SpringStoredLayout;

export interface BitmapFilterOptions extends Omit<DrivenFilterOptions<ResolvedBitmap>, 'keys' | 'driver'> {
  readonly layout: BitmapStoredLayout;
  readonly plan: StagePlan;
}

/**
 * A filter on the very key that its peers use.
 *
 * @throws {BloomConfigError} for a key that no other key can share a hash slot with, or settings the peer would refuse.
 */
export function openBitmap(options: BitmapFilterOptions): DrivenFilter<ResolvedBitmap> {
  const { layout, plan, name, emit, connection, luaSources } = options;
  const format = formatOf(layout, plan);
  const keys = new GenerationKeys(format.key);
  const scripts = new BitmapScripts(connection, keys, format.settingsKey, luaSources);
  const { foreignAdds = 'keep' } = layout;
  const driver = new BitmapDriver({ name, emit, format, scripts, plan, foreignAdds }, keys);
  return new DrivenFilter({ ...options, keys, driver, waitsForAdopt: layout.adopt === 'explicit' });
}

function formatOf(layout: BitmapStoredLayout, plan: StagePlan): BitmapFormat {
  switch (layout.kind) {
    case 'go-zero':
      return goZeroFormat(layout, plan);
    case 'guava':
      return guavaFormat(layout, plan);
    case 'redisson':
      return redissonFormat(layout);
    case 'spring':
      return springFormat(layout, plan);
  }
}
