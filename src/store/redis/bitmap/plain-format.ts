import type { BitmapFilter, BitmapLayout, Geometry, LayoutKind } from '../../../filter/peers/index.js';
import type { StagePlan } from '../../index.js';
import type { BitmapFormat, BitmapSize } from './bitmap-format.js';

export interface PlainFormatRules {
  readonly kind: LayoutKind;
  readonly key: string;
  readonly encoding: string;
  /** The size that every side is given. */
  readonly geometry: Geometry;
  readonly plan: StagePlan;
  layout(geometry: Geometry): BitmapLayout;
  emptyFilter(geometry: Geometry): BitmapFilter<BitmapLayout>;
}

/** The bits under the key of the peers, and nothing else. */
export function plainFormat({
  kind,
  key,
  encoding,
  geometry,
  plan,
  ...codec
}: PlainFormatRules): BitmapFormat {
  const { bits, hashCount } = geometry;
  const size: BitmapSize = { bits, hashCount, target: plan, rebuildCapacity: Infinity };
  return {
    kind,
    key,
    encoding,
    fixed: { bits, hashCount },
    headBytes: 0,
    readsMissingAsEmpty: true,
    existsWithoutString: false,
    sizeOf: () => size,
    plan: (target) => ({ ...size, target }),
    layout: codec.layout,
    emptyFilter: codec.emptyFilter,
    head: () => Buffer.alloc(0),
    geometryFields: () => [],
    settings: () => [],
  };
}
