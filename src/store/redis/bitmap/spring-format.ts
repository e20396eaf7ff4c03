import { springCodec, springSizeOf, type SpringLayoutOptions } from '../../../filter/peers/index.js';
import type { StagePlan } from '../../index.js';
import type { BitmapFormat, BitmapSize } from './bitmap-format.js';

/** A filter of Spring's `BloomFilterHelper`: the bits under the key, and nothing else. Every side is given its size. */
export function springFormat(layout: SpringLayoutOptions, plan: StagePlan): BitmapFormat {
  const { key, funnel } = layout;
  const { bits, hashCount } = springSizeOf(layout);
  const size: BitmapSize = { bits, hashCount, demand: plan, rebuildCapacity: Infinity };
  return {
    kind: 'spring',
    key,
    encoding: typeof funnel === 'function' ? 'custom' : (funnel ?? 'putStringTwice'),
    fixed: { bits, hashCount },
    headBytes: 0,
    readsMissingAsEmpty: true,
    existsWithoutString: false,
    sizeOf: () => size,
    plan: (staged) => ({ ...size, demand: staged }),
    layout: (geometry) => springCodec.layout({ ...geometry, funnel }),
    emptyFilter: (geometry) => springCodec.empty({ ...geometry, funnel }),
    head: () => Buffer.alloc(0),
    geometryFields: () => [],
    settings: () => [],
  };
}
