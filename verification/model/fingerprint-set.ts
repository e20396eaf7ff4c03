/**
 * Rounds of the loop below mix each character into 64 bits; the constants are those of MurmurHash3's 32-bit
 * version.
 */
const C1 = 0xcc9e2d51;
const C2 = 0x1b873593;
const FIRST_SLOTS = 1 << 16;

/**
 * A set of texts, each held as 64 bits of a hash, with the number of the text that led to it. Two of n texts
 * share their 64 bits with a chance below n² / 2⁶⁵: for ten million texts one in 360,000. Such a pair would
 * hide one state, as in TLC, the model checker of TLA+.
 */
export class FingerprintSet {
  size = 0;
  private slots = FIRST_SLOTS;
  private low = new Uint32Array(FIRST_SLOTS);
  private high = new Uint32Array(FIRST_SLOTS);
  /** Number of the text from 1; 0 for an empty slot. */
  private numbers = new Uint32Array(FIRST_SLOTS);

  /** Whether the text is new. Its number is `size` after the call, counted from 1. */
  add(text: string): boolean {
    if (2 * this.size >= this.slots) this.grow();
    let a = 0x9747b28c;
    let b = text.length;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      a = Math.imul(rotate(a ^ Math.imul(code + 1, C1), 13), 5) + 0xe6546b64;
      b = Math.imul(rotate(b ^ Math.imul(code + 1, C2), 15), 9) + a;
    }
    a = mixed(a ^ text.length);
    b = mixed(b ^ a);
    return this.insert(a >>> 0, b >>> 0);
  }

  private insert(a: number, b: number): boolean {
    const mask = this.slots - 1;
    for (let slot = a & mask; ; slot = (slot + 1) & mask) {
      if (this.numbers[slot] === 0) {
        this.low[slot] = a;
        this.high[slot] = b;
        this.numbers[slot] = ++this.size;
        return true;
      }
      if (this.low[slot] === a && this.high[slot] === b) return false;
    }
  }

  private grow(): void {
    const { low, high, numbers } = this;
    this.slots *= 2;
    this.low = new Uint32Array(this.slots);
    this.high = new Uint32Array(this.slots);
    this.numbers = new Uint32Array(this.slots);
    const mask = this.slots - 1;
    for (let from = 0; from < numbers.length; from++) {
      if (numbers[from] === 0) continue;
      let slot = low[from]! & mask;
      while (this.numbers[slot] !== 0) slot = (slot + 1) & mask;
      this.low[slot] = low[from]!;
      this.high[slot] = high[from]!;
      this.numbers[slot] = numbers[from]!;
    }
  }
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

/** The finalizer of MurmurHash3. */
function mixed(value: number): number {
  let mix = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return mix ^ (mix >>> 16);
}
