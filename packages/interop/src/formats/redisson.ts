import { BloomConfigError, BloomFormatError, type BloomId, type FilterTarget } from 'nestjs-bloom/filter';
import {
  checkInteger,
  checkOptions,
  falsePositiveRate,
  type OptionTable,
  TRUE_OR_FALSE,
} from 'nestjs-bloom/internal';
import type { BloomLayout, StagePlan } from 'nestjs-bloom/store';
import type { BitmapFormat, BitmapSize } from '../redis/bitmap/bitmap-format.js';
import { tooFewBitsToRecognise } from '../redis/bitmap/bitmap.messages.js';
import { BitmapFilter, BitmapLayout, bitmapPlanner, type Geometry } from './bitmap-filter.js';
import { bitmapLayout } from './bitmap-in-redis.js';
import { checkRedisString } from './bitmap.js';
import type { ByteSink } from './byte-sink.js';
import { DoubleHashing } from './double-hashing.js';
import { HighwayHash } from './hash/hashes.js';
import { optimalBits, optimalHashCount } from './java.js';
import { KEY_OPTIONS, MIN_STRING_BITS, type PeerKeyOptions, PEERS_KEY } from './key-options.js';
import { wrongRedissonErrorRate, wrongRedissonSize } from './formats.messages.js';
import {
  type Encoder,
  encoderOf,
  type RedissonCodec,
  type RedissonSettings,
  type RedissonType,
} from './redisson-codec.js';
import {
  MAX_BITS,
  readConfig,
  type RedissonConfig,
  type RedissonGeometry,
  writeConfig,
} from './redisson-config.js';

/** Layout 4, `redisson`: double hashing with the two halves of HighwayHash 128, which are added in turn. */
export class RedissonLayout extends BitmapLayout {
  readonly kind = 'redisson';
  readonly bitOrder = 'most-significant-first';
  readonly codec: RedissonCodec;
  readonly type: RedissonType;

  private readonly hash = new HighwayHash();
  private readonly putId: Encoder;
  private readonly hashing: DoubleHashing;

  /** @throws {BloomConfigError} when bits is not from 1 to 4,294,967,294, or there is no such codec. */
  constructor(settings: Geometry & RedissonSettings) {
    super(settings);
    checkInteger('bits', settings.bits, { min: 1, max: MAX_BITS });
    this.codec = settings.codec;
    this.type = settings.type ?? 'String';
    this.putId = encoderOf(settings);
    this.hashing = new DoubleHashing(settings.bits, { clearsTopBit: true, alternates: true });
    this.located = settings.hashCount;
  }

  isSameAs(other: BitmapLayout): boolean {
    return (
      this.hasSameGeometry(other) &&
      other instanceof RedissonLayout &&
      this.codec === other.codec &&
      this.type === other.type
    );
  }

  protected put(id: BloomId, sink: ByteSink): void {
    this.putId(id, sink);
  }

  protected locateBytes(sink: ByteSink): void {
    const { hash } = this;
    hash.hash(sink);
    const { firstHigh, firstLow, secondHigh, secondLow } = hash;
    this.hashing.fill(this.places, firstHigh, firstLow, secondHigh, secondLow);
  }
}

/** A filter of Redisson on the very keys that `RBloomFilter` uses. */
export interface RedissonLayoutOptions extends PeerKeyOptions {
  /** As given to `getBloomFilter`, after the client's `nameMapper` if it has one. */
  readonly name: string;
  /** The value codec of the filter: stored nowhere, and silently wrong if one side has another. */
  readonly codec: RedissonCodec;
  /** The class of the elements in Java. Default `String`. */
  readonly type?: RedissonType | undefined;
  /**
   * Whether a rebuild may give a filter that is there another size when the ids have outgrown it. Default
   * false: Java handles that know the old size answer "absent" for every id until they read the new one.
   */
  readonly resize?: boolean | undefined;
}

const OPTIONS = {
  name: PEERS_KEY,
  codec: true,
  type: true,
  resize: TRUE_OR_FALSE,
  ...KEY_OPTIONS,
} satisfies OptionTable<RedissonLayoutOptions>;

/**
 * Bits (`size`) and hash count (`hashIterations`) that `tryInit` would choose.
 *
 * @param target errorRate may be 0, which Redisson takes for the smallest double
 * @throws {BloomConfigError} for what Redisson refuses too.
 */
function redissonSize({ capacity, errorRate }: FilterTarget): Geometry {
  checkInteger('capacity', capacity, { min: 0, max: Number.MAX_SAFE_INTEGER });
  if (!(errorRate >= 0 && errorRate <= 1)) {
    throw new BloomConfigError(wrongRedissonErrorRate(errorRate));
  }
  const bits = optimalBits(capacity, errorRate || Number.MIN_VALUE);
  if (bits < 1 || bits > MAX_BITS) {
    throw new BloomConfigError(wrongRedissonSize(MAX_BITS, bits, capacity, errorRate));
  }
  return { bits, hashCount: optimalHashCount(capacity, bits) };
}

/** What Redisson keeps of a filter under its two keys. */
export interface RedissonDump {
  /** The hash under the config key. */
  readonly config: RedissonConfig;
  /** The string under the filter's name; empty while there is no such key. */
  readonly value: Uint8Array;
}

/** A filter of Redisson in the memory of this process. */
export class RedissonFilter extends BitmapFilter<RedissonLayout> {
  constructor(
    layout: RedissonLayout,
    readonly target: FilterTarget,
    bytes?: Uint8Array,
  ) {
    super(layout, bytes);
  }

  /** What Redisson would have written under the two keys. */
  write(): RedissonDump {
    const { bits, hashCount } = this.layout;
    const { capacity, errorRate } = this.target;
    return {
      config: writeConfig({ bits, hashCount, capacity, errorRate }),
      value: this.copyUsed(),
    };
  }

  protected override estimateIds(setBits: number): number {
    const { bits, hashCount } = this.layout;
    return setBits === 0 ? 0 : Math.round((-bits / hashCount) * Math.log(1 - setBits / bits));
  }
}

/** Filters of Redisson's `RBloomFilter` (layout 4) in the memory of this process. */
const inMemory = {
  ...bitmapPlanner('redisson', redissonSize),

  /**
   * Bits (`size`) and hash count (`hashIterations`) that `tryInit` would choose.
   *
   * @param target errorRate may be 0, which Redisson takes for the smallest double
   * @throws {BloomConfigError} for what Redisson refuses too.
   */
  size(target: FilterTarget): Geometry {
    return redissonSize(target);
  },

  /** The two Redis keys of a filter. */
  keys(name: string): { readonly bits: string; readonly config: string } {
    return { bits: name, config: name.includes('{') ? `${name}:config` : `{${name}}:config` };
  },

  /** The hash under the config key, as numbers. */
  readConfig: (config: Readonly<Partial<RedissonConfig>>): RedissonGeometry => readConfig(config),

  /** The hash under the config key, as `tryInit` writes it. */
  writeConfig: (geometry: RedissonGeometry): RedissonConfig => writeConfig(geometry),

  /** @throws {BloomConfigError} when bits is not from 1 to 4,294,967,294, or there is no such codec. */
  layout(options: Geometry & RedissonSettings): RedissonLayout {
    return new RedissonLayout(options);
  },

  /**
   * An empty filter, of the size that `tryInit` would choose.
   *
   * @throws {BloomConfigError} for what Redisson refuses too.
   */
  create(options: FilterTarget & RedissonSettings): RedissonFilter {
    const { capacity, errorRate } = options;
    return new RedissonFilter(new RedissonLayout({ ...options, ...redissonSize(options) }), {
      capacity,
      errorRate,
    });
  },

  /** An empty filter of this size. Its `write` says that it is for as many ids as its bits make optimal. */
  empty(options: Geometry & RedissonSettings): RedissonFilter {
    const { bits, hashCount } = options;
    const capacity = Math.max(1, Math.floor((bits * Math.LN2) / hashCount));
    return new RedissonFilter(new RedissonLayout(options), { capacity, errorRate: 2 ** -hashCount });
  },

  /**
   * A filter from its two keys: the fields of the config hash, and the string (empty when there is no such
   * key yet).
   *
   * @throws {BloomFormatError} when a field of the config is missing or damaged, or the string is longer than
   * the filter.
   */
  read(
    dump: { readonly config: Readonly<Partial<RedissonConfig>>; readonly value: Uint8Array },
    options: RedissonSettings,
  ): RedissonFilter {
    const { capacity, errorRate, ...geometry } = readConfig(dump.config);
    const layout = new RedissonLayout({ ...options, ...geometry });
    checkRedisString(dump.value, layout);
    return new RedissonFilter(layout, { capacity, errorRate }, dump.value.slice());
  },
} as const;

/** A filter that is there gets another size when its ids would make this many times its errors. */
const ERRORS_TO_RESIZE = 2;

/**
 * A filter of Redisson: the bits under its name, and the settings, which decide its size, in a hash beside
 * it.
 */
export function redissonFormat(layout: RedissonLayoutOptions): BitmapFormat {
  const { name, codec, type = 'String', resize = false } = layout;
  const settings = { codec, type };
  return {
    kind: 'redisson',
    key: name,
    settingsKey: inMemory.keys(name).config,
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
    layout: (geometry) => inMemory.layout({ ...geometry, ...settings }),
    emptyFilter: (geometry) => inMemory.empty({ ...geometry, ...settings }),
    head: () => Buffer.alloc(0),
    geometryFields: ({ bits, hashCount }) => ['size', String(bits), 'hashIterations', String(hashCount)],
    settings: ({ target, ...geometry }) => Object.entries(writeConfig({ ...geometry, ...target })).flat(),
  };
}

function sizeOf(config: Readonly<Partial<RedissonConfig>>, name: string, resize: boolean): BitmapSize {
  const { bits, hashCount, capacity, errorRate } = readConfig(config);
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
    const size = redissonSize(target);
    if (size.bits >= MIN_STRING_BITS)
      return { ...size, target, rebuildCapacity: resize ? capacity : Infinity };
  }
}

/**
 * The layout of Redisson's `RBloomFilter`, on its very keys in Redis; its members make and read such filters
 * in memory.
 *
 * @throws {BloomConfigError} for an option that cannot work, or that it does not have.
 */
export const redisson = Object.assign(function redisson(options: RedissonLayoutOptions): BloomLayout {
  checkOptions(options, { where: 'redisson()', known: OPTIONS, needed: ['name'] });
  encoderOf(options);
  return bitmapLayout({
    kind: 'redisson',
    maker: 'redisson',
    key: options.name,
    options,
    bytes: (target) => inMemory.plan(target).bytes,
    format: () => redissonFormat(options),
  });
}, inMemory);
