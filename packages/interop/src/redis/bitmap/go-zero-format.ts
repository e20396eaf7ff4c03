import { goZeroCodec, type GoZeroLayoutOptions } from '../../formats/index.js';
import type { StagePlan } from 'nestjs-bloom/store';
import type { BitmapFormat, BitmapSize } from './bitmap-format.js';

/** A filter of go-zero: the bits under its key. The size is the option `bits` of every side. */
export function goZeroFormat({ key, bits }: GoZeroLayoutOptions, plan: StagePlan): BitmapFormat {
  const { hashCount } = goZeroCodec.layout({ bits });
  const size: BitmapSize = { bits, hashCount, target: plan, rebuildCapacity: Infinity };
  return {
    kind: 'go-zero',
    key,
    encoding: 'utf8',
    fixed: { bits, hashCount },
    headBytes: 0,
    readsMissingAsEmpty: true,
    existsWithoutString: false,
    sizeOf: () => size,
    plan: (target) => ({ ...size, target }),
    layout: (geometry) => goZeroCodec.layout(geometry),
    emptyFilter: (geometry) => goZeroCodec.create(geometry),
    head: () => Buffer.alloc(0),
    geometryFields: () => [],
    settings: () => [],
  };
}
