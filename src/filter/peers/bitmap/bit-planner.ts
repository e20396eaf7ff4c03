import type { Demand } from '../../demand.js';
import { falsePositiveRate } from '../../error-model.js';
import { type LayoutPlanner, plannerOf } from '../../layout-plan.js';
import type { LayoutKind } from '../layout-numbers.js';
import type { Geometry } from './geometry.js';

/** Plans filters of a layout whose bits are one row. */
export function bitPlanner(kind: LayoutKind, size: (demand: Demand) => Geometry): LayoutPlanner {
  return plannerOf({
    kind,
    size: ({ capacity, errorRate }) => size({ capacity, errorRate }),
    errorRate: ({ bits, hashCount }, ids) => falsePositiveRate({ bits, hashCount, ids }),
  });
}
