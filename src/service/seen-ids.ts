import { randomBytes } from 'node:crypto';
import { HalfSipHash, type IdKey } from '../filter/index.js';

/** Ids that are remembered at most; 256 KiB. */
const PLACE_BITS = 16;

/**
 * Ids whose rows this process has seen or added lately. Each id has one place, which the next id of that
 * place takes over. The key of the hash is random, so nobody can ask for ids that pass for one of these.
 */
export class SeenIds {
  private readonly hash: HalfSipHash;
  private digests: Int32Array | undefined;

  constructor() {
    const key = randomBytes(8);
    this.hash = new HalfSipHash(key.readInt32LE(0), key.readInt32LE(4));
  }

  add(id: IdKey): void {
    this.digests ??= new Int32Array(1 << PLACE_BITS);
    this.hash.hash(id);
    this.digests[this.place] = this.digest;
  }

  has(id: IdKey): boolean {
    if (!this.digests) return false;
    this.hash.hash(id);
    return this.digests[this.place] === this.digest;
  }

  private get place(): number {
    return this.hash.first >>> (32 - PLACE_BITS);
  }

  /** An empty place holds 0. */
  private get digest(): number {
    return this.hash.last | 1;
  }
}
