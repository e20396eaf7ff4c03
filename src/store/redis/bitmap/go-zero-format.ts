import { goZero, type GoZeroStoredLayout } from '../../../filter/index.js';
import type { StagePlan } from '../../index.js';
import type { BitmapFormat, BitmapSize } from './bitmap-format.js';

/** A filter of go-zero: the bits under the plain key, and nothing else. Its size is the option `bits` of every side. */
export function goZeroFormat({ key, bits }: GoZeroStoredLayout, plan: StagePlan): BitmapFormat {
  const { hashCount } = goZero.layout({ bits });
  const size: BitmapSize = { bits, hashCount, demand: plan, takes: Infinity };
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
    layout: (geometry) => goZero.layout(geometry),
    emptyFilter: (geometry) => goZero.create(geometry),
    head: () => Buffer.alloc(0),
    decisive: () => [],
    settings: () => [],
  };
}
