import type { RedisBloomTarget } from '../../formats/redis-bloom-chain.js';
import type { ResolvedBf } from './resolved-bf.js';

/** The filter to build in this process. Canaries take no room from the ids. */
export function localTarget({ settings, canaries }: ResolvedBf): RedisBloomTarget {
  const { capacity, errorRate, expansion, nonScaling } = settings;
  const growth = nonScaling ? { nonScaling } : { expansion };
  return { capacity: capacity + canaries.length, errorRate, ...growth };
}

/** What `BF.RESERVE` takes after the key to make the same on the server. */
export function reserveArguments({ settings, canaries }: ResolvedBf): string[] {
  const { capacity, errorRate, expansion, nonScaling } = settings;
  const growth = nonScaling
    ? ['NONSCALING']
    : expansion === undefined
      ? []
      : ['EXPANSION', String(expansion)];
  return [String(errorRate), String(capacity + canaries.length), ...growth];
}
