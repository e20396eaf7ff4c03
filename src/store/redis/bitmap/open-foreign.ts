import type { StagePlan } from '../../index.js';
import type {
  GoZeroStoredLayout,
  GuavaStoredLayout,
  RedissonStoredLayout,
  SpringStoredLayout,
} from '../../../filter/index.js';
import { CompanionFilterStore, type CompanionFilterOptions } from '../protocol/companion-filter-store.js';
import { CompanionKeys } from '../protocol/companion-keys.js';
import type { BitFormat } from './bit-format.js';
import { BitsDriver } from './bits-driver.js';
import { BitsScripts } from './bits-scripts.js';
import { goZeroFormat } from './go-zero-format.js';
import { guavaFormat } from './guava-format.js';
import type { PlacedBits } from './placed-bits.js';
import { redissonFormat } from './redisson-format.js';
import { springFormat } from './spring-format.js';

/** Layouts whose bits are one row in a Redis string of the peers. */
export type ForeignLayout =
  GoZeroStoredLayout | GuavaStoredLayout | RedissonStoredLayout | SpringStoredLayout;

export interface ForeignFilterOptions extends Omit<CompanionFilterOptions<PlacedBits>, 'keys' | 'driver'> {
  readonly layout: ForeignLayout;
  readonly plan: StagePlan;
}

/**
 * A filter on the very key that its peers use.
 *
 * @throws {BloomConfigError} for a key that no other key can share a hash slot with, or settings the peer would refuse.
 */
export function openForeign(options: ForeignFilterOptions): CompanionFilterStore<PlacedBits> {
  const { layout, plan, name, emit, connection, luaSources } = options;
  const format = formatOf(layout, plan);
  const keys = new CompanionKeys(format.key);
  const scripts = new BitsScripts(connection, keys, format.settingsKey, luaSources);
  const { foreignAdds = 'keep' } = layout;
  const driver = new BitsDriver({ name, emit, format, scripts, plan, foreignAdds }, keys);
  return new CompanionFilterStore({ ...options, keys, driver, waitsForAdopt: layout.adopt === 'explicit' });
}

function formatOf(layout: ForeignLayout, plan: StagePlan): BitFormat {
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
