import { springCodec, springSizeOf, type SpringLayoutOptions } from '../../../filter/peers/index.js';
import type { StagePlan } from '../../index.js';
import type { BitmapFormat } from './bitmap-format.js';
import { plainFormat } from './plain-format.js';

/** A filter of Spring's `BloomFilterHelper`. */
export function springFormat(options: SpringLayoutOptions, plan: StagePlan): BitmapFormat {
  const { key, funnel } = options;
  return plainFormat({
    kind: 'spring',
    key,
    encoding: typeof funnel === 'function' ? 'custom' : (funnel ?? 'putStringTwice'),
    geometry: springSizeOf(options),
    plan,
    layout: (geometry) => springCodec.layout({ ...geometry, funnel }),
    emptyFilter: (geometry) => springCodec.empty({ ...geometry, funnel }),
  });
}
