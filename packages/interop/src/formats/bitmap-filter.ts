import { BloomConfigError, type BloomId, type FilterTarget } from 'nestjs-bloom/filter';
import { checkInteger, falsePositiveRate } from 'nestjs-bloom/internal';
import { type LayoutPlanner, plannerOf } from '../layout-plan.js';
import { Bitmap, type BitOrder } from './bitmap.js';
import { MAX_MODULUS } from './double-hashing.js';
import { ByteSink } from './byte-sink.js';
import { LAYOUT_NUMBERS, type LayoutKind } from './layout-numbers.js';
import { otherSettings } from './formats.messages.js';

/** The smallest positive double as an error rate makes peers use 1,075 hashes; none can ask for more. */
export const MAX_HASH_COUNT = 1_100;

/** The size of a filter whose bits are one row. */
export interface Geometry {
  /** Bits of the filter: what the hashes are taken modulo of. */
  readonly bits: number;
  /** Bits set for an id (k). */
  readonly hashCount: number;
}

/** @throws {BloomConfigError} */
function checkGeometry({ bits, hashCount }: Geometry): void {
  checkInteger('bits', bits, { min: 1, max: MAX_MODULUS });
  checkInteger('hashCount', hashCount, { min: 1, max: MAX_HASH_COUNT });
}

/** Plans filters of a layout whose bits are one row. */
export function bitmapPlanner(kind: LayoutKind, size: (target: FilterTarget) => Geometry): LayoutPlanner {
  return plannerOf({
    kind,
    size: ({ capacity, errorRate }) => size({ capacity, errorRate }),
    errorRate: ({ bits, hashCount }, ids) => falsePositiveRate({ bits, hashCount, ids }),
  });
}

/** A layout whose bits are one row: where the bits of an id are. */
export abstract class BitmapLayout implements Geometry {
  abstract readonly kind: LayoutKind;
  abstract readonly bitOrder: BitOrder;
  readonly bits: number;
  readonly hashCount: number;

  /** Positions of the id last located; the first `located` of them are there, `locateNext` adds one. */
  readonly places: Float64Array;
  located = 0;

  private readonly sink = new ByteSink();

  /** @throws {BloomConfigError} when bits or hashCount is no positive integer, or absurdly large. */
  constructor(geometry: Geometry) {
    checkGeometry(geometry);
    this.bits = geometry.bits;
    this.hashCount = geometry.hashCount;
    this.places = new Float64Array(geometry.hashCount);
  }

  /** The number under which this layout is stored. */
  get number(): number {
    return LAYOUT_NUMBERS[this.kind];
  }

  /**
   * The bits of an id, in the peer's order; a bit may come twice.
   *
   * @throws {BloomIdError} when the peer could not have added the id.
   */
  positions(id: BloomId): number[] {
    this.locate(id);
    while (this.located < this.hashCount) this.locateNext();
    return [...this.places];
  }

  /**
   * The bytes of an id that are hashed: to compare with the peer when the two do not find each other's ids.
   */
  encode(id: BloomId): Uint8Array {
    const sink = new ByteSink();
    this.put(id, sink);
    return sink.toBytes();
  }

  /** Finds the first positions of an id. */
  locate(id: BloomId): void {
    const { sink } = this;
    sink.clear();
    this.put(id, sink);
    sink.pad();
    this.locateBytes(sink);
  }

  /** One more position; only where they are so dear that a lookup should not pay for all at once. */
  locateNext(): void {}

  /** Whether the same ids have the same bits. */
  abstract isSameAs(other: BitmapLayout): boolean;

  protected abstract put(id: BloomId, sink: ByteSink): void;
  protected abstract locateBytes(sink: ByteSink): void;

  protected hasSameGeometry(other: BitmapLayout): boolean {
    return this.kind === other.kind && this.bits === other.bits && this.hashCount === other.hashCount;
  }
}

/** What the bits of a filter say about it. */
export interface FilterEstimate {
  readonly setBits: number;
  /** Ids that were added, as the peer counts or estimates them; Infinity when all bits are set. */
  readonly ids: number;
  /** Share of absent ids answered "maybe", by the set bits. */
  readonly errorRate: number;
}

/** A filter of one row of bits in the memory of this process. */
export abstract class BitmapFilter<Layout extends BitmapLayout> {
  private readonly bitmap: Bitmap;

  /**
   * @param bytes the bitmap in the layout's bit order; what it is short of is zeros. Left out: empty.
   * @throws {BloomConfigError} when the filter would exceed 4 GiB.
   */
  constructor(
    readonly layout: Layout,
    bytes?: Uint8Array,
  ) {
    this.bitmap = new Bitmap(layout, bytes);
  }

  /**
   * Adds an id; true when it was not there before.
   *
   * @throws {BloomIdError} when the peer could not have added the id.
   */
  add(id: BloomId): boolean {
    this.layout.locate(id);
    return this.bitmap.insert();
  }

  /**
   * False: the id was never added. True: it was, or the error rate struck.
   *
   * @throws {BloomIdError} when the peer could not have added the id.
   */
  mightContain(id: BloomId): boolean {
    this.layout.locate(id);
    return this.bitmap.contains();
  }

  /**
   * Adds all ids of another filter of the same layout and settings.
   *
   * @throws {BloomConfigError} when it is of others.
   */
  merge(other: BitmapFilter<Layout>): void {
    if (!this.layout.isSameAs(other.layout)) {
      throw new BloomConfigError(otherSettings(this.layout, other.layout));
    }
    this.bitmap.merge(other.bitmap);
  }

  /**
   * Bytes of the bitmap from `from` up to `to`, in the bit order of the peer; not a copy. Of a filter that
   * was made, not read.
   */
  piece(from: number, to: number): Uint8Array {
    return this.bitmap.view(from, to);
  }

  estimate(): FilterEstimate {
    const { bits, hashCount } = this.layout;
    const setBits = this.bitmap.countBits();
    return { setBits, ids: this.estimateIds(setBits), errorRate: (setBits / bits) ** hashCount };
  }

  /** A copy of all bytes, in the bit order of the peer. */
  protected copy(): Uint8Array {
    return this.bitmap.copy();
  }

  /** A copy of the bytes up to the last one that is not zero, which is what Redis keeps. */
  protected copyUsed(): Uint8Array {
    return this.bitmap.copyUsed();
  }

  /** -m/k ln(1 - X/m), rounded. */
  protected estimateIds(setBits: number): number {
    const { bits, hashCount } = this.layout;
    return Math.floor((-Math.log1p(-setBits / bits) * bits) / hashCount + 0.5);
  }
}
