import type { RedisBloomChunk } from '../dump/dump-chunks.js';
import { changedDump, DumpParts, refusedDump } from '../dump/dump-parts.js';
import { RedisBloomFilter } from './redisbloom-filter.js';
import { RedisBloomHash } from './redisbloom-hash.js';
import { readHeader, type RedisBloomHeader } from './redisbloom-header.js';
import { RedisBloomLink } from './redisbloom-link.js';

/** What such a dump is called in errors. */
export const REDISBLOOM_DUMP = { dump: 'a RedisBloom dump', part: 'link', command: 'BF.SCANDUMP' };

/**
 * Takes the chunks of a dump as `BF.LOADCHUNK` does, but only all of them. Bits are never cleared, so ids that were there before the first
 * chunk are in any later one.
 */
export class RedisBloomLoader {
  private begun: { readonly header: RedisBloomHeader; readonly parts: DumpParts } | undefined;

  /** @throws {BloomFormatError} when the first chunk is no header, or a further one has no place in the filter. */
  load(chunk: RedisBloomChunk): void {
    if (this.begun !== undefined) {
      this.begun.parts.place(chunk);
      return;
    }
    if (chunk.iterator !== 1)
      throw refusedDump(REDISBLOOM_DUMP, 'the chunk of iterator 1 first', `${chunk.iterator}`);
    const header = readHeader(chunk.data);
    const sizes = header.links.map(({ bits }) => bits / 8);
    this.begun = { header, parts: new DumpParts(sizes, REDISBLOOM_DUMP) };
  }

  /** @throws {BloomFormatError} when chunks are missing, or have fewer bits set than the header counts ids. */
  finish(): RedisBloomFilter {
    if (this.begun === undefined) throw refusedDump(REDISBLOOM_DUMP, 'a header', 'no chunks');
    const { header, parts } = this.begun;
    const hash = new RedisBloomHash();
    const bytes = parts.join();
    const links = header.links.map((link, index) => new RedisBloomLink(link, hash, bytes[index]));
    links.forEach(({ bitmap, items }, index) => {
      const setBits = bitmap.countBits();
      // An id is counted only if it set a bit.
      if (setBits >= items) return;
      throw changedDump(
        REDISBLOOM_DUMP,
        `at least ${items} bits set in link ${index}, one for each id`,
        `${setBits}`,
      );
    });
    return new RedisBloomFilter(links, hash, header);
  }
}
