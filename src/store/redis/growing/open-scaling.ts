import type { ScalingOptions } from '../../../filter/index.js';
import type { BloomFilterStore, OpenFilterOptions } from '../../index.js';
import { CompanionScripts } from '../protocol/companion-scripts.js';
import { CompanionViews } from '../protocol/companion-views.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { RedisLeases } from '../protocol/leases.js';
import type { LuaSources } from '../client/script.js';
import type { ServerScripts } from '../protocol/server-scripts.js';
import { LayerOpener } from './layer-opener.js';
import { originOf, placeScaling, type PlacedScaling, segmentKeys } from './placed-scaling.js';
import { ScalingFilterStore } from './scaling-filter-store.js';
import { ScalingKeys } from './scaling-keys.js';
import { ScalingReader } from './scaling-reader.js';
import { SCALING_LAYOUT, ScalingScripts } from './scaling-scripts.js';

export interface OpenScalingOptions extends Pick<OpenFilterOptions, 'name' | 'emit' | 'onLoad'> {
  readonly scaling: ScalingOptions;
  readonly keyPrefix: string;
  readonly connection: RedisConnection;
  readonly scripts: ServerScripts;
  readonly trustAfterFailover: boolean;
  readonly owner: string | undefined;
  readonly luaSources?: LuaSources | undefined;
}

/** A filter of layout `blocked` that grows by layers, in Redis. */
export function openScaling(options: OpenScalingOptions): BloomFilterStore {
  const { name, emit, keyPrefix, connection, scripts, luaSources } = options;
  const keys = new ScalingKeys(keyPrefix, name);
  const companion = new CompanionScripts(connection, luaSources, options.owner);
  const scaling = new ScalingScripts(connection, keys, luaSources);
  const views = new CompanionViews<PlacedScaling>({
    ...options,
    keys,
    companion,
    hasSource: false,
    adopts: false,
    ownsKey: true,
    driver: {
      layout: SCALING_LAYOUT,
      place: (generation) => placeScaling(keys, generation),
      originOf: ({ token }) => originOf(token),
      ownKeys: (generation) => segmentKeys(placeScaling(keys, generation)?.layers ?? []),
      adopt: async () => ({ outcome: 'missing' }),
    },
  });
  const leases = new RedisLeases({ keys, connection, scripts });
  const { owner } = options;
  const parts = { name, emit, owner, keys, connection, scripts, companion, scaling, views, leases };
  return new ScalingFilterStore({
    ...parts,
    reader: new ScalingReader(keys, scaling),
    opener: new LayerOpener({ ...parts, maxCapacity: options.scaling.maxCapacity ?? Infinity }),
    options: options.scaling,
    onLoad: options.onLoad,
  });
}
