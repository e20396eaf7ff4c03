import { goZeroCodec, type GoZeroLayoutOptions } from '../../../filter/peers/index.js';
import type { StagePlan } from '../../index.js';
import type { BitmapFormat, BitmapSize } from './bitmap-format.js';

/** A filter of go-zero: the bits under the plain key, and nothing else. Its size is the option `bits` of every side. */
export function goZeroFormat({ key, bits }: GoZeroLayoutOptions, plan: StagePlan): BitmapFormat {
  const { hashCount } = goZeroCodec.layout({ bits });
  const size: BitmapSize = { bits, hashCount, demand: plan, rebuildCapacity: Infinity };
  return {
    kind: 'go-zero',
    key,
    encoding: 'utf8',
    fixed: { bits, hashCount },
    headBytes: 0,
    readsMissingAsEmpty: true,
    existsWithoutString: false,
    sizeOf: () => size,
    plan: (staged) => ({ ...size, demand: staged }),
    layout: (geometry) => goZeroCodec.layout(geometry),
    emptyFilter: (geometry) => goZeroCodec.create(geometry),
    head: () => Buffer.alloc(0),
    geometryFields: () => [],
    settings: () => [],
  };
}
