import { BloomFormatError } from 'nestjs-bloom/filter';
import { changedWhileDumped, wrongDump } from './formats.messages.js';

/** An unsigned 64-bit integer, little-endian, as RedisBloom's headers have them. */
export function writeUint64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 0x100000000, true);
  view.setUint32(at + 4, Math.floor(value / 0x100000000), true);
}

/** The same; beyond 2^53 it is rounded. */
export function readUint64(view: DataView, at: number): number {
  return view.getUint32(at + 4, true) * 0x100000000 + view.getUint32(at, true);
}

/** A reply of `BF.SCANDUMP` or `CF.SCANDUMP`, or the arguments of `BF.LOADCHUNK` or `CF.LOADCHUNK`. */
export interface RedisBloomChunk {
  /** The iterator that the dump replied, not the one it was asked with. */
  readonly iterator: number;
  readonly data: Uint8Array;
}

const CHUNK_BYTES = 16_777_216;

/**
 * The chunks that the server would reply, without the empty one at the end: no chunk crosses from one part to
 * the next.
 */
export function dumpChunks(header: Uint8Array, parts: Iterable<Uint8Array>): RedisBloomChunk[] {
  const chunks = [{ iterator: 1, data: header }];
  let iterator = 1;
  for (const bytes of parts) {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const data = bytes.subarray(at, at + CHUNK_BYTES);
      iterator += data.length;
      chunks.push({ iterator, data });
    }
  }
  return chunks;
}

/** What a dump is called in errors. */
interface DumpWords {
  readonly dump: string;
  readonly part: string;
  readonly command: string;
}

interface Piece {
  /** Where it begins within its part, in bytes. */
  readonly start: number;
  readonly data: Uint8Array;
}

/**
 * Collects the bytes of a dump's parts from its chunks, as the server does. Memory for a part is taken when
 * all of its bytes are here, never for what a header claims.
 */
export class DumpParts {
  private readonly pieces = new Map<number, Piece[]>();

  /** @param sizes bytes of each part */
  constructor(
    private readonly sizes: readonly number[],
    private readonly words: DumpWords,
  ) {}

  /** @throws {BloomFormatError} when the chunk lies outside the parts, or crosses from one to the next. */
  place({ iterator, data }: RedisBloomChunk): void {
    const { sizes, words } = this;
    let start = iterator - 1 - data.length;
    if (!Number.isSafeInteger(iterator) || start < 0) {
      throw refusedDump(
        words,
        'iterators above the length of their data',
        `${iterator} with ${data.length} bytes`,
      );
    }
    for (let part = 0; part < sizes.length; part++) {
      const bytes = sizes[part]!;
      if (start < bytes) {
        if (start + data.length > bytes) {
          throw refusedDump(
            words,
            `chunks within one ${words.part}`,
            `${data.length} bytes at byte ${start} of a ${words.part} of ${bytes}`,
          );
        }
        this.piecesOf(part).push({ start, data });
        return;
      }
      start -= bytes;
    }
    // A filter that has grown since has a part more than its header says.
    throw changedDump(
      words,
      `chunks within the ${words.part}s`,
      `iterator ${iterator} with ${data.length} bytes`,
    );
  }

  /**
   * The bytes of all parts.
   *
   * @throws {BloomFormatError} when some are missing, or pieces that overlap are not the same there.
   */
  join(): Uint8Array[] {
    this.sizes.forEach((bytes, part) => this.checkComplete(bytes, part));
    return this.sizes.map((bytes, part) => {
      const joined = new Uint8Array(bytes);
      let end = 0;
      for (const { start, data } of this.inOrder(part)) {
        for (let at = start; at < Math.min(end, start + data.length); at++) {
          if (joined[at] === data[at - start]) continue;
          throw changedDump(
            this.words,
            `one value for byte ${at} of ${this.words.part} ${part}`,
            `${joined[at]} in one chunk and ${data[at - start]} in another`,
          );
        }
        joined.set(data, start);
        end = Math.max(end, start + data.length);
      }
      this.pieces.delete(part);
      return joined;
    });
  }

  private checkComplete(bytes: number, part: number): void {
    let end = 0;
    for (const { start, data } of this.inOrder(part)) {
      if (start > end) break;
      end = Math.max(end, start + data.length);
    }
    if (end >= bytes) return;
    throw refusedDump(
      this.words,
      `${bytes} bytes of ${this.words.part} ${part}`,
      `${end} before the first gap`,
    );
  }

  private inOrder(part: number): Piece[] {
    return this.piecesOf(part).toSorted((a, b) => a.start - b.start);
  }

  private piecesOf(part: number): Piece[] {
    const pieces = this.pieces.get(part) ?? [];
    if (pieces.length === 0) this.pieces.set(part, pieces);
    return pieces;
  }
}

export function refusedDump(words: DumpWords, expected: string, got: string): BloomFormatError {
  return new BloomFormatError(wrongDump(words.dump, expected, got, words.command));
}

/** For chunks that are sound, but not of one moment. */
export function changedDump(words: DumpWords, expected: string, got: string): BloomFormatError {
  return new BloomFormatError(changedWhileDumped(words.dump, expected, got));
}

/**
 * Compares the header with one that was asked for after the last chunk.
 *
 * @throws {BloomFormatError} when the filter was changed in between.
 */
export function checkSameHeader(first: Uint8Array, again: Uint8Array, words: DumpWords): void {
  const isSame = first.length === again.length && first.every((byte, at) => byte === again[at]);
  if (isSame) return;
  throw changedDump(words, 'the same header before and after the other chunks', 'two that differ');
}
