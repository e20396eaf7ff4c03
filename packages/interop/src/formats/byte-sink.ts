/**
 * What an unpaired surrogate becomes in UTF-8: `?` in Java, U+FFFD elsewhere. `netty`: a `?`, and of what
 * follows an unpaired high surrogate the lowest 8 bits alone, or a second `?` for another high one, as
 * `ByteBufUtil.writeUtf8` of Netty has it.
 */
export type LoneSurrogate = '?' | '\ufffd' | 'netty';

const START_BYTES = 1024;
/** A sink that had to grow beyond this gives the memory back. */
const KEPT_BYTES = 65_536;
/** Zeros after the bytes, so that a hash may read whole blocks. */
const PADDING_BYTES = 16;

/**
 * Takes an id apart into the bytes that are hashed: pieces one after another, without lengths or separators.
 */
export class ByteSink {
  /** Over the bytes; its own length is of no meaning. */
  view = new DataView(new ArrayBuffer(START_BYTES));
  /** Bytes put in so far. */
  length = 0;

  private buffer = new Uint8Array(this.view.buffer);

  clear(): void {
    this.length = 0;
    if (this.buffer.length > KEPT_BYTES) this.use(new Uint8Array(START_BYTES));
  }

  /** Zeros behind the last byte. */
  pad(): void {
    const at = this.reserve(PADDING_BYTES);
    for (let i = at; i < at + PADDING_BYTES; i += 4) this.view.setInt32(i, 0);
  }

  /** A copy of the bytes. */
  toBytes(): Uint8Array {
    return this.buffer.slice(0, this.length);
  }

  /**
   * Text as Java encodes it in UTF-8, which is what `Funnels.stringFunnel(UTF_8)` and
   * `putString(text, UTF_8)` do.
   */
  putString(text: string): void {
    this.putUtf8(text, '?');
  }

  /** Text in UTF-8. */
  putUtf8(text: string, loneSurrogate: LoneSurrogate): void {
    const { length } = text;
    let at = this.reserve(length * 3);
    const { buffer } = this;
    const ascii = this.putAscii(text, at);
    at += ascii;
    for (let i = ascii; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit < 0x80) {
        buffer[at++] = unit;
      } else if (unit < 0x800) {
        buffer[at++] = 0xc0 | (unit >>> 6);
        buffer[at++] = 0x80 | (unit & 0x3f);
      } else if ((unit & 0xf800) !== 0xd800) {
        at = putThreeBytes(buffer, at, unit);
      } else {
        const next = unit < 0xdc00 && i + 1 < length ? text.charCodeAt(i + 1) : 0;
        if ((next & 0xfc00) === 0xdc00) {
          const point = 0x10000 + ((unit & 0x3ff) << 10) + (next & 0x3ff);
          buffer[at++] = 0xf0 | (point >>> 18);
          buffer[at++] = 0x80 | ((point >>> 12) & 0x3f);
          buffer[at++] = 0x80 | ((point >>> 6) & 0x3f);
          buffer[at++] = 0x80 | (point & 0x3f);
          i++;
        } else if (loneSurrogate === '\ufffd') at = putThreeBytes(buffer, at, 0xfffd);
        else {
          buffer[at++] = 0x3f;
          if (loneSurrogate === 'netty' && unit < 0xdc00 && ++i < length) {
            buffer[at++] = (next & 0xfc00) === 0xd800 ? 0x3f : next;
          }
        }
      }
    }
    this.length = at;
  }

  /** Text as UTF-16 code units, little-endian, unpaired surrogates as they are. */
  putUnencodedChars(text: string): void {
    let at = this.reserve(text.length * 2);
    for (let i = 0; i < text.length; i++, at += 2) this.view.setUint16(at, text.charCodeAt(i), true);
    this.length = at;
  }

  /**
   * Text with each UTF-16 code unit encoded on its own in the manner of UTF-8: a surrogate pair gives six
   * bytes.
   */
  putCodeUnits(text: string): void {
    let at = this.reserve(text.length * 3);
    const { buffer } = this;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit < 0x80) {
        buffer[at++] = unit;
      } else if (unit < 0x800) {
        buffer[at++] = 0xc0 | (unit >>> 6);
        buffer[at++] = 0x80 | (unit & 0x3f);
      } else at = putThreeBytes(buffer, at, unit);
    }
    this.length = at;
  }

  /**
   * Text of ASCII alone, with the top bit of its last character set; false, and nothing put, when it is other
   * text.
   */
  putMarkedAscii(text: string): boolean {
    const { length } = text;
    const at = this.reserve(length);
    const { buffer } = this;
    let seen = 0;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      seen |= unit;
      buffer[at + i] = unit;
    }
    if (length === 0 || seen > 0x7f) return false;
    buffer[at + length - 1]! |= 0x80;
    this.length = at + length;
    return true;
  }

  putBytes(bytes: Uint8Array): void {
    const at = this.reserve(bytes.length);
    this.buffer.set(bytes, at);
    this.length = at + bytes.length;
  }

  /** The lowest 8 bits of an integer. */
  putByte(value: number): void {
    const at = this.reserve(1);
    this.buffer[at] = value;
    this.length = at + 1;
  }

  /** The lowest 32 bits of an integer, little-endian. */
  putInt(value: number): void {
    const at = this.reserve(4);
    this.view.setInt32(at, value, true);
    this.length = at + 4;
  }

  /** A 64-bit integer, given as two halves of 32 bits, little-endian. */
  putLong(high: number, low: number): void {
    this.putInt(low);
    this.putInt(high);
  }

  /**
   * Puts the text's head in words of four characters, up to one with a character beyond ASCII; how many
   * characters these are.
   */
  private putAscii(text: string, at: number): number {
    const { view } = this;
    const whole = text.length & ~3;
    for (let i = 0; i < whole; i += 4) {
      const a = text.charCodeAt(i);
      const b = text.charCodeAt(i + 1);
      const c = text.charCodeAt(i + 2);
      const d = text.charCodeAt(i + 3);
      if ((a | b | c | d) > 0x7f) return i;
      view.setInt32(at + i, a | (b << 8) | (c << 16) | (d << 24), true);
    }
    return whole;
  }

  /** Makes room; returns where it begins. */
  private reserve(bytes: number): number {
    const needed = this.length + bytes + PADDING_BYTES;
    if (needed > this.buffer.length) {
      const larger = new Uint8Array(Math.max(needed, Math.min(this.buffer.length * 2, KEPT_BYTES)));
      larger.set(this.buffer.subarray(0, this.length));
      this.use(larger);
    }
    return this.length;
  }

  private use(buffer: Uint8Array<ArrayBuffer>): void {
    this.buffer = buffer;
    this.view = new DataView(buffer.buffer);
  }
}

function putThreeBytes(buffer: Uint8Array, at: number, unit: number): number {
  buffer[at] = 0xe0 | (unit >>> 12);
  buffer[at + 1] = 0x80 | ((unit >>> 6) & 0x3f);
  buffer[at + 2] = 0x80 | (unit & 0x3f);
  return at + 3;
}
