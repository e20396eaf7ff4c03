import type { RedisBloomLayoutOptions } from '../../formats/redis-bloom-chain.js';
import { DrivenFilter } from '../generation/driven-filter.js';
import { GenerationKeys } from '../generation/generation-keys.js';
import type { RedisContext } from 'nestjs-bloom/internal';
import type { ResolvedBf } from './resolved-bf.js';
import { BfDriver } from './bf-driver.js';

/** @throws {BloomConfigError} for a key that no other key can share a hash slot with. */
export function openBf(context: RedisContext, options: RedisBloomLayoutOptions): DrivenFilter<ResolvedBf> {
  const { name, keyPrefix, waitsForReset } = context;
  const { key, adopt } = options;
  const keys = new GenerationKeys(key ?? `${keyPrefix}:{${name}}:bf`);
  const ownsKey = key === undefined;
  const driver = new BfDriver({ ...context, ...options, filter: name, keys, ownsKey });
  const waitsForAdopt = adopt === 'explicit' || waitsForReset === true;
  return new DrivenFilter({ ...context, keys, driver, ownsKey, waitsForAdopt });
}
