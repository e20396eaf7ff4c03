import { BitmapLayout } from '../bitmap/bitmap-layout.js';
import { checkInteger } from '../../filter-target.js';
import type { Geometry } from '../bitmap/geometry.js';
import { type CustomFunnel, funnelOf, type GuavaFunnel } from '../java/funnel.js';
import { fillMitz32 } from '../hash/mitz-32.js';
import { Murmur3 } from '../hash/murmur3-128.js';
import type { ByteSink } from '../id/byte-sink.js';
import type { BloomId } from '../../id.js';
import { toText } from '../id/id-text.js';

/** `putStringTwice` is what most copies of the helper do: `into.putString(x, UTF_8).putString(x, UTF_8)`. */
export type SpringFunnel = 'putStringTwice' | GuavaFunnel;

/** What the bits of an id depend on, beside the size. */
export interface SpringSettings {
  /** Default `putStringTwice`. */
  readonly funnel?: SpringFunnel | undefined;
}

/** Its number of bits is a Java int. */
export const SPRING_MAX_BITS = 2 ** 31 - 1;

/** Layout 6, `spring`: Guava's hash and its rule of 32 bits over a Redis bitmap whose size is not rounded. */
export class SpringLayout extends BitmapLayout {
  readonly kind = 'spring';
  readonly bitOrder = 'most-significant-first';
  readonly funnel: SpringFunnel;

  private readonly hash = new Murmur3();
  private readonly putId: CustomFunnel;

  /** @throws {BloomConfigError} when bits is not from 1 to 2^31 - 1. */
  constructor(settings: Geometry & SpringSettings) {
    super(settings);
    checkInteger('bits', settings.bits, { min: 1, max: SPRING_MAX_BITS });
    this.funnel = settings.funnel ?? 'putStringTwice';
    this.putId = this.funnel === 'putStringTwice' ? putStringTwice : funnelOf(this.funnel);
    this.located = settings.hashCount;
  }

  isSameAs(other: BitmapLayout): boolean {
    return this.hasSameGeometry(other) && other instanceof SpringLayout && this.funnel === other.funnel;
  }

  protected put(id: BloomId, sink: ByteSink): void {
    this.putId(id, sink);
  }

  protected locateBytes(sink: ByteSink): void {
    const { hash } = this;
    hash.hash(sink);
    fillMitz32(this.places, this.bits, hash.h1Low, hash.h1High);
  }
}

function putStringTwice(id: BloomId, sink: ByteSink): void {
  const text = toText(id);
  sink.putString(text);
  sink.putString(text);
}
