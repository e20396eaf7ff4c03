import type { PackedIds } from 'nestjs-bloom/sources';

/** Bytes of a batch before it grows for a long id. */
const FIRST_BYTES = 1 << 18;
/** About how many ids and bytes a batch has at most. */
const MOST_IDS = 16_384;
const MOST_BYTES = 1 << 20;
/** Batches whose memory is kept. */
const MOST_SPARE = 2;

/** The decimal digits of 0 to 9,999, four each. */
const FOUR_DIGITS = Uint8Array.from(
  { length: 40_000 },
  (_, i) => 48 + (Math.floor(Math.floor(i / 4) / 10 ** (3 - (i % 4))) % 10),
);
const TWO_TO_32 = 2 ** 32;
const MINUS = 45;
const ENCODER = new TextEncoder();

/** Writes ids one after the other into one piece of memory: no object for an id. */
export class PackedWriter {
  private bytes: Uint8Array = new Uint8Array(FIRST_BYTES);
  private ends: Uint32Array = new Uint32Array(MOST_IDS);
  private readonly spare: PackedIds[] = [];
  private at = 0;
  private count = 0;

  constructor(private readonly areText: boolean) {}

  get isFull(): boolean {
    return this.count >= MOST_IDS || this.at >= MOST_BYTES;
  }

  get isEmpty(): boolean {
    return this.count === 0;
  }

  /** Bytes that are written. */
  get length(): number {
    return this.at;
  }

  /** What was written, and begins again. */
  take(): PackedIds {
    const { bytes, ends, count, areText } = this;
    const spare = this.spare.pop();
    // The next batch is about as large as this one.
    this.bytes = spare?.bytes ?? new Uint8Array(bytes.length);
    this.ends = spare?.ends ?? new Uint32Array(MOST_IDS);
    this.at = 0;
    this.count = 0;
    return { bytes, ends, count, areText };
  }

  /**
   * Takes back the memory of a batch that nobody reads any more: to make it again and again is work for the
   * collector of garbage.
   */
  giveBack(batch: PackedIds): void {
    if (this.spare.length < MOST_SPARE) this.spare.push(batch);
  }

  /** Ids one after the other, and where each of them ends here. */
  append(ids: Uint8Array, ends: Uint32Array): void {
    this.makeRoom(ids.length, ends.length);
    this.bytes.set(ids, this.at);
    this.ends.set(ends, this.count);
    this.at += ids.length;
    this.count += ends.length;
  }

  /** The decimal text of an integer of 64 bits, big-endian. */
  int8(from: Uint8Array, start: number): void {
    this.makeRoom(20);
    const high = word(from, start);
    const low = word(from, start + 4) >>> 0;
    const value = high * TWO_TO_32 + low;
    if (Number.isSafeInteger(value)) {
      if (value < 0) this.bytes[this.at++] = MINUS;
      this.digits(Math.abs(value));
    } else {
      this.ascii(((BigInt(high) << 32n) | BigInt(low)).toString());
    }
    this.ends[this.count++] = this.at;
  }

  /** The text of a UUID of 16 bytes. */
  uuid(from: Uint8Array, start: number): void {
    this.makeRoom(36);
    const { bytes } = this;
    let { at } = this;
    for (let i = 0; i < 16; i++) {
      if (i === 4 || i === 6 || i === 8 || i === 10) bytes[at++] = 45;
      const byte = from[start + i]!;
      bytes[at++] = hex(byte >>> 4);
      bytes[at++] = hex(byte & 15);
    }
    this.at = at;
    this.ends[this.count++] = at;
  }

  /** Text in UTF-8, or bytes, as they are. */
  copy(from: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.makeRoom(3 * length);
    const { bytes } = this;
    let { at } = this;
    let seen = 0;
    for (let i = start; i < end; i++) {
      const byte = from[i]!;
      seen |= byte;
      bytes[at++] = byte;
    }
    // In a database without an encoding it may be no UTF-8: then it is what a driver makes of it.
    if (seen > 0x7f && this.areText) {
      const text = Buffer.from(from.buffer, from.byteOffset + start, length).toString();
      at = this.at + ENCODER.encodeInto(text, bytes.subarray(this.at)).written;
    }
    this.at = at;
    this.ends[this.count++] = at;
  }

  /** Packs a value from 0 to the largest safe integer. */
  private digits(value: number): void {
    const { bytes } = this;
    if (value >= 1e8) {
      const upper = Math.floor(value / 1e8);
      this.digits(upper);
      const lower = value - upper * 1e8;
      const first = (lower / 1e4) | 0;
      this.four(first);
      this.four(lower - first * 1e4);
    } else if (value >= 1e4) {
      const upper = (value / 1e4) | 0;
      this.digits(upper);
      this.four(value - upper * 1e4);
    } else {
      const skipped = value >= 1e3 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
      for (let i = skipped; i < 4; i++) bytes[this.at++] = FOUR_DIGITS[value * 4 + i]!;
    }
  }

  private four(value: number): void {
    const { bytes } = this;
    const { at } = this;
    const from = value * 4;
    bytes[at] = FOUR_DIGITS[from]!;
    bytes[at + 1] = FOUR_DIGITS[from + 1]!;
    bytes[at + 2] = FOUR_DIGITS[from + 2]!;
    bytes[at + 3] = FOUR_DIGITS[from + 3]!;
    this.at = at + 4;
  }

  private ascii(text: string): void {
    for (let i = 0; i < text.length; i++) this.bytes[this.at++] = text.charCodeAt(i);
  }

  private makeRoom(bytes: number, ids = 1): void {
    if (this.count + ids > this.ends.length) {
      const more = new Uint32Array(2 * this.ends.length + ids);
      more.set(this.ends);
      this.ends = more;
    }
    if (this.at + bytes <= this.bytes.length) return;
    const larger = new Uint8Array(2 * this.bytes.length + bytes);
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
  }
}

function word(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}

function hex(digit: number): number {
  return digit < 10 ? 48 + digit : 87 + digit;
}
