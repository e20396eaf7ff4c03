import type { ScalingOptions } from '../../../filter/index.js';
import type { StoredFilter, OpenFilterOptions } from '../../index.js';
import { GenerationScripts } from '../protocol/generation-scripts.js';
import { GenerationMetadataCache } from '../protocol/generation-metadata-cache.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { RedisLeases } from '../protocol/leases.js';
import type { LuaSources } from '../client/script.js';
import type { ServerScripts } from '../protocol/server-scripts.js';
import { LayerOpener } from './layer-opener.js';
import { originOf, resolveGrowing, type ResolvedGrowing, segmentKeys } from './resolved-growing.js';
import { GrowingFilterInRedis } from './growing-filter.js';
import { GrowingKeys } from './growing-keys.js';
import { GrowingReader } from './growing-reader.js';
import { GROWING_LAYOUT, GrowingScripts } from './growing-scripts.js';

export interface OpenGrowingOptions extends Pick<OpenFilterOptions, 'name' | 'emit' | 'onLoad'> {
  readonly scaling: ScalingOptions;
  readonly keyPrefix: string;
  readonly connection: RedisConnection;
  readonly scripts: ServerScripts;
  readonly trustAfterFailover: boolean;
  readonly owner: string | undefined;
  readonly luaSources?: LuaSources | undefined;
}

/** A filter of layout `blocked` that grows by layers, in Redis. */
export function openGrowing(options: OpenGrowingOptions): StoredFilter {
  const { name, emit, keyPrefix, connection, scripts, luaSources } = options;
  const keys = new GrowingKeys(keyPrefix, name);
  const companion = new GenerationScripts(connection, luaSources, options.owner);
  const scaling = new GrowingScripts(connection, keys, luaSources);
  const views = new GenerationMetadataCache<ResolvedGrowing>({
    ...options,
    keys,
    companion,
    hasSource: false,
    adopts: false,
    ownsKey: true,
    driver: {
      layout: GROWING_LAYOUT,
      place: (generation) => resolveGrowing(keys, generation),
      originOf: ({ token }) => originOf(token),
      ownKeys: (generation) => segmentKeys(resolveGrowing(keys, generation)?.layers ?? []),
      adopt: async () => ({ outcome: 'missing' }),
    },
  });
  const leases = new RedisLeases({ keys, connection, scripts });
  const { owner } = options;
  const parts = { name, emit, owner, keys, connection, scripts, companion, scaling, views, leases };
  return new GrowingFilterInRedis({
    ...parts,
    reader: new GrowingReader(keys, scaling),
    opener: new LayerOpener({ ...parts, maxCapacity: options.scaling.maxCapacity ?? Infinity }),
    options: options.scaling,
    onLoad: options.onLoad,
  });
}
