import { plannerOf } from '../layout-plan.js';
import { layersErrorRate, planLayer, type ScalingOptions } from './growing-plan.js';

/** Plans the first layer of filters that grow; the expected error rate is over all layers that they then have. */
export const scalingPlanner = plannerOf<ScalingOptions>({
  kind: 'scaling',
  size: (target, scaling) => {
    const { bytes, hashCount } = planLayer({ ...target, scaling }, 0)!;
    return { bits: bytes * 8, hashCount };
  },
  errorRate: ({ layout, capacity, errorRate }, ids) =>
    layersErrorRate({ capacity, errorRate, scaling: layout }, ids),
});
