import type { FilterTarget } from 'nestjs-bloom/filter';
import { falsePositiveRate } from 'nestjs-bloom/internal';
import { type LayoutPlanner, plannerOf } from '../../layout-plan.js';
import type { LayoutKind } from '../layout-numbers.js';
import type { Geometry } from './geometry.js';

/** Plans filters of a layout whose bits are one row. */
export function bitmapPlanner(kind: LayoutKind, size: (target: FilterTarget) => Geometry): LayoutPlanner {
  return plannerOf({
    kind,
    size: ({ capacity, errorRate }) => size({ capacity, errorRate }),
    errorRate: ({ bits, hashCount }, ids) => falsePositiveRate({ bits, hashCount, ids }),
  });
}
