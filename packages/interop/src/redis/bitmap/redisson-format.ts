import { BloomFormatError, type FilterTarget } from 'nestjs-bloom/filter';
import { falsePositiveRate } from 'nestjs-bloom/internal';
import {
  type Geometry,
  redissonCodec,
  type RedissonConfig,
  type RedissonLayoutOptions,
  MIN_STRING_BITS,
} from '../../formats/index.js';
import type { StagePlan } from 'nestjs-bloom/store';
import type { BitmapFormat, BitmapSize } from './bitmap-format.js';
import { tooFewBitsToRecognise } from './bitmap.messages.js';

/** A filter that is there gets another size when its ids would make this many times its errors. */
const ERRORS_TO_RESIZE = 2;

/** A filter of Redisson: the bits under its name, and the settings, which decide its size, in a hash beside it. */
export function redissonFormat(layout: RedissonLayoutOptions): BitmapFormat {
  const { name, codec, type = 'String', resize = false } = layout;
  const settings = { codec, type };
  return {
    kind: 'redisson',
    key: name,
    settingsKey: redissonCodec.keys(name).config,
    encoding: `${codec}/${type}`,
    fixed: undefined,
    headBytes: 0,
    readsMissingAsEmpty: true,
    existsWithoutString: true,
    sizeOf: (found) => found.settings && sizeOf(found.settings, name, resize),
    plan: (plan, found) => {
      if (!found || (resize && !isEnough(plan, found))) return planned(plan, found, resize);
      return { ...found, rebuildCapacity: Math.max(found.rebuildCapacity, plan.capacity) };
    },
    layout: (geometry) => redissonCodec.layout({ ...geometry, ...settings }),
    emptyFilter: (geometry) => redissonCodec.empty({ ...geometry, ...settings }),
    head: () => Buffer.alloc(0),
    geometryFields: ({ bits, hashCount }) => ['size', String(bits), 'hashIterations', String(hashCount)],
    settings: ({ target, ...geometry }) =>
      Object.entries(redissonCodec.writeConfig({ ...geometry, ...target })).flat(),
  };
}

function sizeOf(config: Readonly<Partial<RedissonConfig>>, name: string, resize: boolean): BitmapSize {
  const { bits, hashCount, capacity, errorRate } = redissonCodec.readConfig(config);
  if (bits < MIN_STRING_BITS) {
    throw new BloomFormatError(tooFewBitsToRecognise(name, MIN_STRING_BITS, bits));
  }
  return { bits, hashCount, target: { capacity, errorRate }, rebuildCapacity: resize ? capacity : Infinity };
}

function isEnough(plan: StagePlan, found: Geometry & { target: FilterTarget }): boolean {
  const { bits, hashCount, target } = found;
  if (plan.capacity <= target.capacity) return true;
  return falsePositiveRate({ bits, hashCount, ids: plan.capacity }) <= ERRORS_TO_RESIZE * target.errorRate;
}

/** By the error rate of the filter that is there, else by that of this process. */
function planned(plan: StagePlan, found: BitmapSize | undefined, resize: boolean): BitmapSize {
  const errorRate = found?.target.errorRate ?? plan.errorRate;
  for (let { capacity } = plan; ; capacity *= 2) {
    const target = { capacity, errorRate };
    const size = redissonCodec.size(target);
    if (size.bits >= MIN_STRING_BITS)
      return { ...size, target, rebuildCapacity: resize ? capacity : Infinity };
  }
}
