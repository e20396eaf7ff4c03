import { Bitmap } from '../bitmap/bitmap.js';
import type { RedisBloomHash } from './redisbloom-hash.js';
import { RedisBloomLayout } from './redisbloom-layout.js';
import type { LinkTarget, LinkGeometry } from './redisbloom-size.js';

/** A link as a dump describes it. */
export interface LinkState extends LinkTarget, LinkGeometry {
  /** Ids added to this link. */
  readonly items: number;
}

/** One filter of the chain. */
export class RedisBloomLink {
  readonly layout: RedisBloomLayout;
  readonly bitmap: Bitmap;
  items: number;

  constructor(
    private readonly described: LinkState,
    hash: RedisBloomHash,
    bytes?: Uint8Array,
  ) {
    this.layout = new RedisBloomLayout(described, hash);
    this.bitmap = new Bitmap(this.layout, bytes);
    this.items = described.items;
  }

  get isFull(): boolean {
    return this.items >= this.described.capacity;
  }

  get state(): LinkState {
    return { ...this.described, items: this.items };
  }
}
