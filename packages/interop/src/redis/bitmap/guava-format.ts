import { BloomFormatError } from 'nestjs-bloom/filter';
import {
  type Geometry,
  guavaCodec,
  GUAVA_STRATEGIES,
  type GuavaLayoutOptions,
  MAX_STRING_BITS,
} from '../../formats/index.js';
import type { StagePlan } from 'nestjs-bloom/store';
import type { BitmapFormat, BitmapSize, FoundString } from './bitmap-format.js';
import { notWrittenByGuava } from './bitmap.messages.js';

/** Strategy (1 byte), hash count (1), number of words (4). */
const HEAD_BYTES = 6;
const WORD_BITS = 64;

/** A filter of Guava in a Redis string: what `writeTo` writes, whose bits are set in place. */
export function guavaFormat(layout: GuavaLayoutOptions, plan: StagePlan): BitmapFormat {
  const { key, funnel, strategy = 'MURMUR128_MITZ_64' } = layout;
  const settings = { funnel, strategy };
  return {
    kind: 'guava',
    key,
    encoding: typeof funnel === 'function' ? 'custom' : funnel,
    fixed: undefined,
    headBytes: HEAD_BYTES,
    readsMissingAsEmpty: false,
    existsWithoutString: false,
    sizeOf: (found) =>
      found.length === 0
        ? undefined
        : { ...geometryOf(found, layout), target: plan, rebuildCapacity: Infinity },
    plan: (plan, found) => found ?? planned(plan),
    layout: (geometry) => guavaCodec.layout({ ...geometry, ...settings }),
    emptyFilter: (geometry) => guavaCodec.empty({ ...geometry, ...settings }),
    head: ({ bits, hashCount }) => {
      const head = Buffer.from([GUAVA_STRATEGIES.indexOf(strategy), hashCount, 0, 0, 0, 0]);
      head.writeInt32BE(bits / WORD_BITS, 2);
      return head;
    },
    geometryFields: () => [],
    settings: () => [],
  };
}

function planned(plan: StagePlan): BitmapSize {
  return { ...guavaCodec.size(plan), target: plan, rebuildCapacity: Infinity };
}

function geometryOf(
  { head, length }: FoundString,
  { key, strategy = 'MURMUR128_MITZ_64' }: GuavaLayoutOptions,
): Geometry {
  const refused = (expected: string, got: string) =>
    new BloomFormatError(notWrittenByGuava(key, expected, got));
  if (head.length < HEAD_BYTES) throw refused(`at least ${HEAD_BYTES} bytes`, `${length}`);
  const found = GUAVA_STRATEGIES[head.readInt8(0)];
  if (found !== strategy) throw refused(`of strategy ${strategy}`, `${found ?? head.readInt8(0)}`);
  const hashCount = head.readUInt8(1);
  const bits = head.readInt32BE(2) * WORD_BITS;
  if (hashCount < 1 || bits < WORD_BITS || bits + 8 * HEAD_BYTES > MAX_STRING_BITS) {
    throw refused(`1 to ${MAX_STRING_BITS} bits that Redis can hold`, `${bits} bits and ${hashCount} hashes`);
  }
  const whole = HEAD_BYTES + bits / 8;
  if (length !== whole) throw refused(`${whole} bytes for ${bits} bits`, `${length}`);
  return { bits, hashCount };
}
