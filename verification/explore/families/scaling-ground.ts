import { BlockedFilter } from '../../../src/filter/index.js';
import { scaling as scalingLayout, type ScalingOptions } from '@nestjs-bloom/interop/scaling';
import { liveFields } from '../../../packages/interop/src/redis/generation/generation-meta.js';
import { capacityOf, firstGeneration } from '../../../packages/interop/src/redis/growing/resolved-growing.js';
import { segmentKeys } from '../../../src/store/redis/staging/segments.js';
import { GrowingKeys } from '../../../packages/interop/src/redis/growing/growing-keys.js';
import { GROWING_LAYOUT } from '../../../packages/interop/src/redis/growing/growing-scripts.js';
import type { Ground } from '../ground.js';
import { KEY_PREFIX, OLD_ROWS } from '../scenario.js';
import { runId } from '../simulated-server.js';

export const SCALING_ERROR_RATE = 0.01;
export const SCALING_ID_BYTES = 1024;

export interface ScalingGroundOptions {
  readonly filterName: string;
  /** Ids of the first layer. */
  readonly capacity: number;
  readonly scaling: ScalingOptions;
  /** Whether the filter was made before anything happens. */
  readonly isMade: boolean;
}

/** Ground of a filter that grows by layers. */
export function scalingGround({ filterName, capacity, scaling, isMade }: ScalingGroundOptions): Ground {
  const base = `${KEY_PREFIX}:{${filterName}}`;
  return {
    base,
    layout: scalingLayout(scaling),
    holds: isMade ? OLD_ROWS : [],
    begin: () => (isMade ? made({ filterName, capacity, scaling }) : { send: [], keys: [] }),
    isLive: (key) => key.startsWith(`${base}:layer:`),
    // Nothing in a name tells whether the layer is live.
    isStaged: (key) => key.startsWith(`${base}:layer:`),
  };
}

function made(
  options: Pick<ScalingGroundOptions, 'filterName' | 'capacity' | 'scaling'>,
): ReturnType<Ground['begin']> {
  const keys = new GrowingKeys(KEY_PREFIX, options.filterName);
  const { capacity, scaling } = options;
  const demand = { capacity, errorRate: SCALING_ERROR_RATE, scaling };
  const resolved = firstGeneration(keys, { token: 'first', demand, maxIdBytes: SCALING_ID_BYTES });
  const filter = new BlockedFilter(resolved.layers[0]!.generation);
  for (const id of OLD_ROWS) filter.add(id);
  const [segment] = segmentKeys(resolved.layers);
  const values = {
    state: 'ready',
    builds: 1,
    runId: runId(0),
    ids: 0,
    'layer.0': OLD_ROWS.length,
    capacity: capacityOf(resolved),
    errorRate: SCALING_ERROR_RATE,
  };
  return {
    send: [
      { name: 'set', args: [segment!, Buffer.from(filter.bytes)] },
      { name: 'hset', args: [keys.meta, ...liveFields(resolved.generation, GROWING_LAYOUT, values)] },
    ],
    keys: [segment!, keys.meta],
  };
}
