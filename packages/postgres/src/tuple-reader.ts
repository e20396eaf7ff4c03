import type { ColumnKind } from './column-kind.js';
import { NOT_BINARY_COPY } from './postgres.messages.js';
import type { PackedWriter } from './packed-writer.js';
import { PlainRows } from './plain-rows.js';

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
/** Signature, flags, length of the extension. */
const HEADER_BYTES = SIGNATURE.length + 8;
/** Number of fields, and length of the only one. */
const HEAD_BYTES = 6;
const FIXED_BYTES = { integer: 8, uuid: 16, text: -1, bytes: -1 } as const;
const NOTHING = new Uint8Array(0);

/** Reads rows of one column from the binary format of COPY, which comes in pieces. */
export class TupleReader {
  /** Rows, those without a value included. */
  rows = 0;
  /** The trailer has come: there are no more rows. */
  isComplete = false;

  private hasHeader = false;
  private rest: Uint8Array = NOTHING;
  private readonly isFixed: number;
  private readonly plain: PlainRows | undefined;

  constructor(
    private readonly kind: ColumnKind,
    private readonly writer: PackedWriter,
  ) {
    this.isFixed = FIXED_BYTES[kind];
    this.plain = PlainRows.of(kind, writer);
  }

  /** To be called before `takePlain`, and again for other bytes. */
  begin(bytes: Uint8Array): void {
    this.plain?.begin(bytes);
  }

  /**
   * Takes messages of the server that are one whole row each; where the first one begins that is to be taken
   * by `take`, or is none for it.
   */
  takePlain(at: number): number {
    const { plain } = this;
    if (!plain || !this.hasHeader || this.isComplete || this.rest.length > 0) return at;
    const read = plain.take(at);
    this.rows += plain.rows;
    return read;
  }

  /** @throws {Error} for what is not the format. */
  take(bytes: Uint8Array, from: number, to: number): void {
    if (this.rest.length === 0) {
      const read = this.read(bytes, from, to);
      if (read < to) this.rest = bytes.slice(read, to);
      return;
    }
    const all = Buffer.concat([this.rest, bytes.subarray(from, to)]);
    this.rest = NOTHING;
    const read = this.read(all, 0, all.length);
    if (read < all.length) this.rest = all.subarray(read);
  }

  /** Where the first row begins that is not whole. */
  private read(bytes: Uint8Array, from: number, to: number): number {
    let at = this.hasHeader ? from : this.readHeader(bytes, from, to);
    if (!this.hasHeader) return at;
    while (at < to) {
      if (this.isComplete) throw new Error(NOT_BINARY_COPY);
      if (at + 2 > to) return at;
      const fields = (bytes[at]! << 8) | bytes[at + 1]!;
      if (fields === 0xffff) {
        this.isComplete = true;
        at += 2;
        continue;
      }
      if (fields !== 1) throw new Error(NOT_BINARY_COPY);
      const value = at + HEAD_BYTES;
      if (value > to) return at;
      const length = int32(bytes, at + 2);
      if (length === -1) {
        this.rows++;
        at = value;
        continue;
      }
      if (length < 0 || (this.isFixed >= 0 && length !== this.isFixed)) throw new Error(NOT_BINARY_COPY);
      if (value + length > to) return at;
      this.rows++;
      this.write(bytes, value, value + length);
      at = value + length;
    }
    return at;
  }

  private write(bytes: Uint8Array, from: number, to: number): void {
    const { writer } = this;
    switch (this.kind) {
      case 'integer':
        return writer.int8(bytes, from);
      case 'uuid':
        return writer.uuid(bytes, from);
      default:
        return writer.copy(bytes, from, to);
    }
  }

  private readHeader(bytes: Uint8Array, from: number, to: number): number {
    if (from + HEADER_BYTES > to) return from;
    const isSigned = SIGNATURE.every((byte, i) => bytes[from + i] === byte);
    const flags = int32(bytes, from + SIGNATURE.length);
    const extension = int32(bytes, from + SIGNATURE.length + 4);
    // Bits from 16 on say that rows are in another form.
    if (!isSigned || flags >>> 16 !== 0 || extension < 0) throw new Error(NOT_BINARY_COPY);
    if (from + HEADER_BYTES + extension > to) return from;
    this.hasHeader = true;
    return from + HEADER_BYTES + extension;
  }
}

function int32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}
