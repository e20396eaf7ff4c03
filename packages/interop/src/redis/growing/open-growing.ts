import type { ScalingOptions } from '../../scaling/growing-plan.js';
import type { StoredFilter } from 'nestjs-bloom/store';
import { GenerationScripts } from '../generation/generation-scripts.js';
import { GenerationCodec } from '../generation/generation-codec.js';
import { MetadataCache, type RedisContext, RebuildLock, segmentKeys } from 'nestjs-bloom/internal';
import { LayerOpener } from './layer-opener.js';
import { originOf, resolveGrowing, type ResolvedGrowing } from './resolved-growing.js';
import { GrowingFilterInRedis } from './growing-filter.js';
import { GrowingKeys } from './growing-keys.js';
import { GrowingReader } from './growing-reader.js';
import { GROWING_LAYOUT, GrowingScripts } from './growing-scripts.js';

/** A filter of layout `blocked` that grows by layers, in Redis. */
export function openGrowing(options: RedisContext, scaling: ScalingOptions): StoredFilter {
  const {
    name,
    emit,
    keyPrefix,
    connection,
    scripts,
    owner,
    contents,
    trustAfterFailover,
    onLoad,
    recorder,
  } = options;
  const keys = new GrowingKeys(keyPrefix, name);
  const generations = new GenerationScripts(connection, owner);
  const growing = new GrowingScripts(connection, keys);
  const codec = new GenerationCodec<ResolvedGrowing>({
    keys,
    generations,
    driver: {
      layout: GROWING_LAYOUT,
      resolve: (generation) => resolveGrowing(keys, generation),
      originOf: ({ token }) => originOf(token),
      ownKeys: (generation) => segmentKeys(resolveGrowing(keys, generation)?.layers ?? []),
      adopt: async () => ({ outcome: 'missing' }),
    },
  });
  const filter = { name, emit, owner, contents, keys, connection, scripts, hasSource: false, recorder };
  const metadata = new MetadataCache({ ...filter, codec, trustAfterFailover, adopts: false, ownsKey: true });
  const lock = new RebuildLock(filter);
  const reader = new GrowingReader(keys, growing);
  const context = { ...filter, metadata, lock, growing, reader };
  const opener = new LayerOpener({ ...context, maxCapacity: scaling.maxCapacity ?? Infinity });
  return new GrowingFilterInRedis(context, { opener, scaling, onLoad });
}
