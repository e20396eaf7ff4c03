import type { RedisBloomStoredLayout } from '../../../filter/index.js';
import type { StagePlan } from '../../index.js';
import { CompanionFilterStore, type CompanionFilterOptions } from '../protocol/companion-filter-store.js';
import { CompanionKeys } from '../protocol/companion-keys.js';
import type { LuaSources } from '../client/script.js';
import type { PlacedRedisBloom } from './placed-redisbloom.js';
import { RedisBloomDriver } from './redisbloom-driver.js';

export interface RedisBloomFilterOptions extends Omit<
  CompanionFilterOptions<PlacedRedisBloom>,
  'keys' | 'driver'
> {
  readonly layout: RedisBloomStoredLayout;
  readonly plan: StagePlan;
  readonly keyPrefix: string;
  readonly luaSources?: LuaSources | undefined;
  /** Whether nobody but `reset()` makes a filter on a key of its own. */
  readonly waitsForReset?: boolean | undefined;
}

/** @throws {BloomConfigError} for a key that no other key can share a hash slot with. */
export function openRedisBloom(options: RedisBloomFilterOptions): CompanionFilterStore<PlacedRedisBloom> {
  const { layout, name, keyPrefix } = options;
  const keys = new CompanionKeys(layout.key ?? `${keyPrefix}:{${name}}:bf`);
  const ownsKey = layout.key === undefined;
  const driver = new RedisBloomDriver({ ...options, ...layout, filter: name, keys, ownsKey });
  return new CompanionFilterStore({
    ...options,
    keys,
    driver,
    ownsKey,
    waitsForAdopt: layout.adopt === 'explicit' || options.waitsForReset === true,
  });
}
