import { ByteSink } from '../id/byte-sink.js';
import type { BloomId } from 'nestjs-bloom/filter';
import { LAYOUT_NUMBERS, type LayoutKind } from '../layout-numbers.js';
import type { BitOrder } from './bit-order.js';
import { checkGeometry, type Geometry } from './geometry.js';

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

  /** The bytes of an id that are hashed: to compare with the peer when the two do not find each other's ids. */
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
