import type { RedisBloomChunk } from './dump-chunks.js';
import { DumpParts, refusedDump } from './dump-parts.js';
import { RedisBloomFilter } from './redisbloom-filter.js';
import { RedisBloomHash } from './redisbloom-hash.js';
import { readHeader, type RedisBloomHeader } from './redisbloom-header.js';
import { RedisBloomLink } from './redisbloom-link.js';

const WORDS = { dump: 'a RedisBloom dump', part: 'link', command: 'BF.SCANDUMP' };

/** Takes the chunks of a dump as `BF.LOADCHUNK` does. */
export class RedisBloomLoader {
  private begun: { readonly header: RedisBloomHeader; readonly parts: DumpParts } | undefined;

  /** @throws {BloomFormatError} when the first chunk is no header, or a further one has no place in the filter. */
  load(chunk: RedisBloomChunk): void {
    if (this.begun !== undefined) {
      this.begun.parts.place(chunk);
      return;
    }
    if (chunk.iterator !== 1) throw refusedDump(WORDS, 'the chunk of iterator 1 first', `${chunk.iterator}`);
    const header = readHeader(chunk.data);
    const sizes = header.links.map(({ bits }) => bits / 8);
    this.begun = { header, parts: new DumpParts(sizes, WORDS) };
  }

  /** @throws {BloomFormatError} when chunks are missing. */
  finish(): RedisBloomFilter {
    if (this.begun === undefined) throw refusedDump(WORDS, 'a header', 'no chunks');
    const { header, parts } = this.begun;
    const hash = new RedisBloomHash();
    const bytes = parts.join();
    const links = header.links.map((link, index) => new RedisBloomLink(link, hash, bytes[index]));
    return new RedisBloomFilter(links, hash, header);
  }
}
