import { goZeroCodec, type GoZeroLayoutOptions } from '../../../filter/peers/index.js';
import type { StagePlan } from '../../index.js';
import type { BitmapFormat } from './bitmap-format.js';
import { plainFormat } from './plain-format.js';

/** A filter of go-zero. Its size is the option `bits` of every side. */
export function goZeroFormat({ key, bits }: GoZeroLayoutOptions, plan: StagePlan): BitmapFormat {
  return plainFormat({
    kind: 'go-zero',
    key,
    encoding: 'utf8',
    geometry: goZeroCodec.layout({ bits }),
    plan,
    layout: (geometry) => goZeroCodec.layout(geometry),
    emptyFilter: (geometry) => goZeroCodec.create(geometry),
  });
}
