import type { RedisBloomStoredLayout } from '../../../filter/index.js';
import type { StagePlan } from '../../index.js';
import { DrivenFilter, type DrivenFilterOptions } from '../protocol/driven-filter.js';
import { GenerationKeys } from '../protocol/generation-keys.js';
import type { LuaSources } from '../client/script.js';
import type { ResolvedBf } from './resolved-bf.js';
import { BfDriver } from './bf-driver.js';

export interface BfFilterOptions extends Omit<DrivenFilterOptions<ResolvedBf>, 'keys' | 'driver'> {
  readonly layout: RedisBloomStoredLayout;
  readonly plan: StagePlan;
  readonly keyPrefix: string;
  readonly luaSources?: LuaSources | undefined;
  /** Whether nobody but `reset()` makes a filter on a key of its own. */
  readonly waitsForReset?: boolean | undefined;
}

/** @throws {BloomConfigError} for a key that no other key can share a hash slot with. */
export function openBf(options: BfFilterOptions): DrivenFilter<ResolvedBf> {
  const { layout, name, keyPrefix } = options;
  const keys = new GenerationKeys(layout.key ?? `${keyPrefix}:{${name}}:bf`);
  const ownsKey = layout.key === undefined;
  const driver = new BfDriver({ ...options, ...layout, filter: name, keys, ownsKey });
  return new DrivenFilter({
    ...options,
    keys,
    driver,
    ownsKey,
    waitsForAdopt: layout.adopt === 'explicit' || options.waitsForReset === true,
  });
}
