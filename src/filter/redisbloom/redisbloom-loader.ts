import { BloomFormatError } from '../../common/index.js';
import { type RedisBloomChunk, RedisBloomFilter } from './redisbloom-filter.js';
import { RedisBloomHash } from './redisbloom-hash.js';
import { readHeader, type RedisBloomHeader } from './redisbloom-header.js';
import { type LinkState, RedisBloomLink } from './redisbloom-link.js';

interface Piece {
  /** Where it begins within its link, in bytes. */
  readonly start: number;
  readonly data: Uint8Array;
}

/**
 * Takes the chunks of a dump as `BF.LOADCHUNK` does. Memory for a link is taken when all of its bytes are here, never for what a
 * header claims.
 */
export class RedisBloomLoader {
  private header: RedisBloomHeader | undefined;
  /** Of each link. */
  private readonly pieces: Piece[][] = [];

  /** @throws {BloomFormatError} when the first chunk is no header, or a further one has no place in the filter. */
  load({ iterator, data }: RedisBloomChunk): void {
    if (this.header !== undefined) {
      this.place(this.header, iterator, data);
      return;
    }
    if (iterator !== 1) throw refused('the chunk of iterator 1 first', `${iterator}`);
    this.header = readHeader(data);
    for (let link = 0; link < this.header.links.length; link++) this.pieces.push([]);
  }

  /** @throws {BloomFormatError} when chunks are missing. */
  finish(): RedisBloomFilter {
    const { header } = this;
    if (header === undefined) throw refused('a header', 'no chunks');
    header.links.forEach((link, index) => checkComplete(link, index, this.pieces[index]!));
    const hash = new RedisBloomHash();
    const links = header.links.map((link, index) => new RedisBloomLink(link, hash, this.join(link, index)));
    return new RedisBloomFilter(links, hash, header);
  }

  private place({ links }: RedisBloomHeader, iterator: number, data: Uint8Array): void {
    let start = iterator - 1 - data.length;
    if (!Number.isSafeInteger(iterator) || start < 0) {
      throw refused('iterators above the length of their data', `${iterator} with ${data.length} bytes`);
    }
    for (let index = 0; index < links.length; index++) {
      const bytes = links[index]!.bits / 8;
      if (start < bytes) {
        if (start + data.length > bytes) {
          throw refused(
            'chunks within one link',
            `${data.length} bytes at byte ${start} of a link of ${bytes}`,
          );
        }
        this.pieces[index]!.push({ start, data });
        return;
      }
      start -= bytes;
    }
    throw refused('chunks within the links', `iterator ${iterator} with ${data.length} bytes`);
  }

  /** The bytes of a link; of pieces that overlap, the later one counts. */
  private join({ bits }: LinkState, index: number): Uint8Array {
    const bytes = new Uint8Array(bits / 8);
    for (const { start, data } of this.pieces[index]!) bytes.set(data, start);
    this.pieces[index] = [];
    return bytes;
  }
}

function checkComplete({ bits }: LinkState, index: number, pieces: readonly Piece[]): void {
  let end = 0;
  for (const { start, data } of [...pieces].sort((a, b) => a.start - b.start)) {
    if (start > end) break;
    end = Math.max(end, start + data.length);
  }
  if (end < bits / 8) throw refused(`${bits / 8} bytes of link ${index}`, `${end} before the first gap`);
}

function refused(expected: string, got: string): BloomFormatError {
  return new BloomFormatError(
    `Expected a RedisBloom dump with ${expected}, got ${got}. Pass every reply of BF.SCANDUMP, each with the iterator that it had.`,
  );
}
