import { BloomFullError, type BloomId } from 'nestjs-bloom/filter';
import type { FilterEstimate, Geometry } from './bitmap-filter.js';
import {
  changedDump,
  checkSameHeader,
  dumpChunks,
  DumpParts,
  type RedisBloomChunk,
  refusedDump,
} from './dump.js';
import { plannerOf } from '../layout-plan.js';
import { fullAndNotScaling, linkTooLarge } from './formats.messages.js';
import {
  chainErrorRate,
  chainOf,
  type ChainSettings,
  type LinkGeometry,
  linkSize,
  type LinkState,
  nextLink,
  RedisBloomHash,
  RedisBloomLayout,
  RedisBloomLink,
  type RedisBloomTarget,
} from './redis-bloom-chain.js';
import { readHeader, type RedisBloomHeader, writeHeader } from './redis-bloom-header.js';

/** What a process may well hold of one filter. */
const MAX_LINK_BYTES = 2 ** 32;

/**
 * A filter of RedisBloom in the memory of this process: a chain of links, of which the last one takes the
 * ids.
 */
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

/** What such a dump is called in errors. */
const REDISBLOOM_DUMP = { dump: 'a RedisBloom dump', part: 'link', command: 'BF.SCANDUMP' };

/**
 * Takes the chunks of a dump as `BF.LOADCHUNK` does, but only all of them. Bits are never cleared, so ids
 * that were there before the first chunk are in any later one.
 */
export class RedisBloomLoader {
  private begun: { readonly header: RedisBloomHeader; readonly parts: DumpParts } | undefined;

  /**
   * @throws {BloomFormatError} when the first chunk is no header, or a further one has no place in the
   * filter.
   */
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

  /**
   * @throws {BloomFormatError} when chunks are missing, or have fewer bits set than the header counts ids.
   */
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

/** How a filter of `BF.*` is to grow: see `BF.RESERVE`. */
export type RedisBloomGrowth = Pick<RedisBloomTarget, 'expansion' | 'nonScaling'>;

/** Filters of RedisBloom, Redis 8 `BF.*` (layout 5). */
export const redisBloomCodec = {
  ...plannerOf<RedisBloomGrowth>({
    kind: 'redisbloom',
    size: (target, settings) => {
      const { bits, hashCount } = linkSize(chainOf({ ...settings, ...target }).first);
      return { bits, hashCount };
    },
    errorRate: ({ layout, capacity, errorRate }, ids) =>
      chainErrorRate({ ...layout, capacity, errorRate }, ids),
  }),

  /**
   * Bits and hash count of the first link that `BF.RESERVE` would make.
   *
   * @throws {BloomConfigError} for what Redis 8 refuses too.
   */
  size(target: RedisBloomTarget): LinkGeometry {
    return linkSize(chainOf(target).first);
  },

  /** The layout of one link. */
  layout(options: Geometry): RedisBloomLayout {
    return new RedisBloomLayout(options);
  },

  /**
   * An empty filter, as `BF.RESERVE` makes it.
   *
   * @throws {BloomConfigError} for what Redis 8 refuses too.
   */
  create(options: RedisBloomTarget): RedisBloomFilter {
    const { first, ...settings } = chainOf(options);
    const hash = new RedisBloomHash();
    const link = new RedisBloomLink({ ...first, ...linkSize(first), items: 0 }, hash);
    return new RedisBloomFilter([link], hash, settings);
  },

  /**
   * A filter from the replies of `BF.SCANDUMP`, in any order after the first; the empty one at the end may be
   * left out. It has every id that was added before the first chunk was asked for, if the key was not
   * replaced meanwhile. Pass the reply to iterator 0 once more, asked for at the end, or all chunks of a
   * second dump: what was changed in between is refused.
   *
   * @throws {BloomFormatError} when chunks are missing, do not fit their header, or are of different moments
   * as far as that can be known.
   */
  read(chunks: Iterable<RedisBloomChunk>): RedisBloomFilter {
    const loader = new RedisBloomLoader();
    let header: Uint8Array | undefined;
    for (const chunk of chunks) {
      if (chunk.iterator === 0 && chunk.data.length === 0) continue;
      if (header !== undefined && chunk.iterator === 1) checkSameHeader(header, chunk.data, REDISBLOOM_DUMP);
      else loader.load(chunk);
      header ??= chunk.data;
    }
    return loader.finish();
  },
} as const;
