import { BloomFullError, type BloomId } from 'nestjs-bloom/filter';
import type { FilterEstimate } from '../bitmap/bitmap-filter.js';
import { dumpChunks, type RedisBloomChunk } from '../dump/dump-chunks.js';
import { writeHeader } from './redisbloom-header.js';
import type { RedisBloomHash } from './redisbloom-hash.js';
import { type LinkState, RedisBloomLink } from './redisbloom-link.js';
import { type ChainSettings, linkSize, nextLink } from './redisbloom-size.js';
import { fullAndNotScaling, linkTooLarge } from '../peers.messages.js';

/** What a process may well hold of one filter. */
const MAX_LINK_BYTES = 2 ** 32;

/** A filter of RedisBloom in the memory of this process: a chain of links, of which the last one takes the ids. */
export class RedisBloomFilter {
  /**
   * @param links at least one, all with this hash
   * @internal `redisBloom` makes filters.
   */
  constructor(
    private readonly links: RedisBloomLink[],
    private readonly hash: RedisBloomHash,
    private readonly settings: ChainSettings,
  ) {}

  /**
   * Adds an id; true when it was not there before. A full filter grows by a link.
   *
   * @throws {BloomIdError} when the peer could not have added the id.
   * @throws {BloomFullError} when the filter is full and does not grow.
   */
  add(id: BloomId): boolean {
    if (this.mightContain(id)) return false;
    let newest = this.links.at(-1)!;
    if (newest.isFull) newest = this.grow(newest);
    newest.bitmap.insert();
    newest.items++;
    return true;
  }

  /**
   * False: the id was never added. True: it was, or the error rate struck.
   *
   * @throws {BloomIdError} when the peer could not have added the id.
   */
  mightContain(id: BloomId): boolean {
    const { links } = this;
    const newest = links.length - 1;
    links[newest]!.layout.locate(id);
    if (links[newest]!.bitmap.contains()) return true;
    for (let i = newest - 1; i >= 0; i--) {
      const { layout, bitmap } = links[i]!;
      layout.locateHashed();
      if (bitmap.contains()) return true;
    }
    return false;
  }

  /** Set bits and errors of all links together; ids are counted, not estimated. */
  estimate(): FilterEstimate {
    let setBits = 0;
    let ids = 0;
    let passes = 1;
    for (const { layout, bitmap, items } of this.links) {
      const setHere = bitmap.countBits();
      setBits += setHere;
      ids += items;
      passes *= 1 - (setHere / layout.bits) ** layout.hashCount;
    }
    return { setBits, ids, errorRate: 1 - passes };
  }

  /** Size and load of each link, the oldest first. */
  describe(): LinkState[] {
    return this.links.map(({ state }) => state);
  }

  /** What `BF.SCANDUMP` replies, without the empty chunk at the end, and what `BF.LOADCHUNK` takes. */
  write(): RedisBloomChunk[] {
    return dumpChunks(
      writeHeader({ ...this.settings, links: this.describe() }),
      this.links.map(({ bitmap }) => bitmap.copy()),
    );
  }

  /**
   * The same in smaller chunks, which are views of the filter: to be sent before it changes.
   *
   * @param maxBytes length of a chunk at most; the first one, the header, is as long as it is
   */
  *chunks(maxBytes: number): Generator<RedisBloomChunk> {
    yield { iterator: 1, data: writeHeader({ ...this.settings, links: this.describe() }) };
    let iterator = 1;
    for (const { bitmap, layout } of this.links) {
      for (let at = 0; at < layout.bits / 8; at += maxBytes) {
        const data = bitmap.view(at, Math.min(at + maxBytes, layout.bits / 8));
        iterator += data.length;
        yield { iterator, data };
      }
    }
  }

  private grow(newest: RedisBloomLink): RedisBloomLink {
    const { nonScaling, expansion } = this.settings;
    if (nonScaling) {
      throw new BloomFullError(fullAndNotScaling(newest.state.capacity));
    }
    const target = nextLink(newest.state, expansion);
    const size = target.errorRate > 0 ? linkSize(target) : undefined;
    if (size === undefined || size.bits / 8 > MAX_LINK_BYTES) {
      throw new BloomFullError(linkTooLarge(MAX_LINK_BYTES, target.capacity, target.errorRate));
    }
    const link = new RedisBloomLink({ ...target, ...size, items: 0 }, this.hash);
    link.layout.locateHashed();
    this.links.push(link);
    return link;
  }
}
