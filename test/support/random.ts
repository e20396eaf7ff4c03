/**
 * The seed of this run's statistical tests: always the same one, so that their outcome is, unless the
 * environment variable SEED names another. Such tests have it in their names.
 */
export const SEED = Number(process.env.SEED ?? 1);

/** Random numbers that a seed decides: xoshiro128++ (D. Blackman, S. Vigna), seeded with splitmix32. */
export class Random {
  private readonly state = new Int32Array(4);

  constructor(seed: number) {
    for (let i = 0; i < 4; i++) {
      seed = (seed + 0x9e3779b9) | 0;
      let word = Math.imul(seed ^ (seed >>> 16), 0x21f0aaad);
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
      this.state[i] = word ^ (word >>> 15);
    }
  }

  /** An unsigned integer of 32 bits. */
  uint32(): number {
    const { state } = this;
    const [a, b, c, d] = state as unknown as [number, number, number, number];
    const sum = (a + d) | 0;
    const result = (((sum << 7) | (sum >>> 25)) + a) | 0;
    state[2] = c ^ a;
    state[3] = d ^ b;
    state[1] = b ^ state[2]!;
    state[0] = a ^ state[3]!;
    state[2]! ^= b << 9;
    state[3] = (state[3]! << 11) | (state[3]! >>> 21);
    return result >>> 0;
  }

  /** An integer from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor((this.uint32() / 2 ** 32) * limit);
  }

  choose<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  fill(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i += 4) {
      const word = this.uint32();
      for (let j = i; j < Math.min(i + 4, bytes.length); j++) bytes[j] = word >>> ((j - i) * 8);
    }
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    this.fill(bytes);
    return bytes;
  }

  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [items[i], items[j]] = [items[j]!, items[i]!];
    }
    return items;
  }
}
