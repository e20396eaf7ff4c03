import { instantiate, type WasmExports } from 'nestjs-bloom/internal';
import type { ByteSink } from '../byte-sink.js';
import { NOTHING_ABSORBED } from '../formats.messages.js';
import { wasmModules } from './wasm.generated.js';

/** What the modules of `wat/` export alike. */
interface WasmHash extends WasmExports {
  /** Forgets what was absorbed. */
  start(): void;
  /** Takes in whole blocks, which begin at `BLOCKS_AT`. */
  absorb(blocks: number): void;
}

/** Where whole blocks begin in the memory of a module, in words of 32 bits. */
const BLOCKS_AT = 8;
/** Bytes absorbed at once: a module has 64 KiB in all. */
const ABSORBED_BYTES = 32_768;

/** Starts a hash with the first `bytes` bytes of a view: a number of whole blocks. */
function absorbBlocks(
  wasm: WasmHash,
  words: Int32Array,
  view: DataView,
  bytes: number,
  blockBytes: number,
): void {
  wasm.start();
  for (let from = 0; from < bytes; from += ABSORBED_BYTES) {
    const piece = Math.min(ABSORBED_BYTES, bytes - from);
    for (let at = 0; at < piece; at += 4) words[BLOCKS_AT + (at >>> 2)] = view.getInt32(from + at, true);
    wasm.absorb(piece / blockBytes);
  }
}

/**
 * Guava's `MURMUR128_MITZ_32`: a + i b in wrapping 32-bit arithmetic, i from 1, negative ones inverted,
 * modulo bits.
 */
export function fillMitz32(places: Float64Array, bits: number, a: number, b: number): void {
  for (let i = 0, sum = a | 0; i < places.length; i++) {
    sum = (sum + b) | 0;
    places[i] = (sum ^ (sum >> 31)) % bits;
  }
}

const INVERSE = 2 ** -32;
/**
 * Lower halves from here on may be so near to 2^32 that the product, rounded to a double, was rounded beyond
 * it.
 */
const NEAR_OVERFLOW = 2 ** 32 - 1024;

/**
 * The upper 32 bits of the product of two unsigned integers of 32 bits, as a signed one. The product as a
 * double is wrong by 2^10 at most, and its lower half, which `imul` has exactly, shows whether that reaches
 * the upper one. Four products of 16 bits would do as well, but take half as long again where many products
 * are under way at once.
 */
export function multiplyHigh(a: number, b: number): number {
  const product = (a >>> 0) * (b >>> 0);
  const low = Math.imul(a, b) >>> 0;
  return low < NEAR_OVERFLOW ? (product * INVERSE) | 0 : ((product - low) * INVERSE + 0.5) | 0;
}

/** The multiplier of the algorithm, as halves of 32 bits. */
const M_HIGH = 0xc6a4a793;
const M_LOW = 0x5bd1e995;

/** MurmurHash64A, the 64-bit MurmurHash2 (A. Appleby, public domain). The hash is left in two halves. */
export class MurmurHash64A {
  high = 0;
  low = 0;

  /** The bytes must be padded. */
  hash({ view, length }: ByteSink, seedHigh: number, seedLow: number): void {
    // h = seed ^ length * m
    let high =
      seedHigh ^
      (multiplyHigh(length, M_LOW) +
        Math.imul(length, M_HIGH) +
        Math.imul(Math.floor(length / 0x100000000), M_LOW));
    let low = seedLow ^ Math.imul(length, M_LOW);
    const whole = length - (length % 8);
    for (let at = 0; at < whole; at += 8) {
      // k *= m; k ^= k >>> 47; k *= m
      let kLow = view.getInt32(at, true);
      let kHigh = view.getInt32(at + 4, true);
      kHigh = (multiplyHigh(kLow, M_LOW) + Math.imul(kHigh, M_LOW) + Math.imul(kLow, M_HIGH)) | 0;
      kLow = Math.imul(kLow, M_LOW) ^ (kHigh >>> 15);
      kHigh = (multiplyHigh(kLow, M_LOW) + Math.imul(kHigh, M_LOW) + Math.imul(kLow, M_HIGH)) | 0;
      // h = (h ^ k) * m
      high ^= kHigh;
      low ^= Math.imul(kLow, M_LOW);
      high = (multiplyHigh(low, M_LOW) + Math.imul(high, M_LOW) + Math.imul(low, M_HIGH)) | 0;
      low = Math.imul(low, M_LOW);
    }
    if (whole < length) {
      low ^= view.getInt32(whole, true);
      high ^= view.getInt32(whole + 4, true);
      high = (multiplyHigh(low, M_LOW) + Math.imul(high, M_LOW) + Math.imul(low, M_HIGH)) | 0;
      low = Math.imul(low, M_LOW);
    }
    // h ^= h >>> 47; h *= m; h ^= h >>> 47
    low ^= high >>> 15;
    high = (multiplyHigh(low, M_LOW) + Math.imul(high, M_LOW) + Math.imul(low, M_HIGH)) | 0;
    low = Math.imul(low, M_LOW);
    this.high = high;
    this.low = low ^ (high >>> 15);
  }
}

const BLOCK_BYTES = 16;
/** Where the bytes after the last whole block are, in words. */
const REST_AT = 4;

interface MurmurModule extends WasmHash {
  finish(length: number): void;
  finishWithSuffixes(length: number, from: number, end: number): void;
}

let murmurWasm: MurmurModule | undefined;
/** What the module has absorbed. */
let absorbed: ByteSink | undefined;

/**
 * MurmurHash3 x64 128 with seed 0: two 64-bit numbers, each left in two halves. In WebAssembly, which has
 * numbers of 64 bits.
 */
export class Murmur3 {
  h1High = 0;
  h1Low = 0;
  h2High = 0;
  h2Low = 0;

  private readonly murmurWasm = (murmurWasm ??= instantiate<MurmurModule>(wasmModules.murmur3));
  private readonly words = new Int32Array(this.murmurWasm.memory.buffer);
  private bytes: ByteSink | undefined;

  /** The bytes must be padded. */
  hash(bytes: ByteSink): void {
    const { murmurWasm, words } = this;
    this.absorb(bytes);
    murmurWasm.finish(bytes.length);
    this.h1Low = words[0]!;
    this.h1High = words[1]!;
    this.h2Low = words[2]!;
    this.h2High = words[3]!;
  }

  /**
   * Takes in what the hashes of `finishWithSuffixes` begin with. The bytes must be padded, and stay as they
   * are until then.
   */
  absorb(bytes: ByteSink): void {
    const { murmurWasm, words } = this;
    const { view, length } = bytes;
    const whole = length - (length % BLOCK_BYTES);
    absorbBlocks(murmurWasm, words, view, whole, BLOCK_BYTES);
    for (let word = 0; word < BLOCK_BYTES / 4; word++) {
      words[REST_AT + word] = view.getInt32(whole + word * 4, true);
    }
    this.bytes = bytes;
    absorbed = bytes;
  }

  /**
   * The first halves of the hashes of what was absorbed followed by the byte i, for i from `from` to below
   * `end`: high and low at 2i and 2i + 1.
   */
  finishWithSuffixes(halves: Int32Array, from: number, end: number): void {
    const { murmurWasm, words, bytes } = this;
    if (bytes === undefined) throw new Error(NOTHING_ABSORBED);
    if (absorbed !== bytes) this.absorb(bytes);
    murmurWasm.finishWithSuffixes(bytes.length, from, end);
    for (let i = from; i < end; i++) {
      halves[2 * i] = words[BLOCKS_AT + 2 * i + 1]!;
      halves[2 * i + 1] = words[BLOCKS_AT + 2 * i]!;
    }
  }
}

const PACKET_BYTES = 32;

interface HighwayModule extends WasmHash {
  finish(size: number): void;
}

let highwayWasm: HighwayModule | undefined;

/**
 * HighwayHash with 128 bits of output and Redisson's key: two 64-bit numbers, each left in two halves. In
 * WebAssembly, which has numbers of 64 bits and of two times 64.
 */
export class HighwayHash {
  firstHigh = 0;
  firstLow = 0;
  secondHigh = 0;
  secondLow = 0;

  private readonly highwayWasm = (highwayWasm ??= instantiate<HighwayModule>(wasmModules.highwayHash));
  /** The last packet, then the hash. */
  private readonly words = new Int32Array(this.highwayWasm.memory.buffer);

  /** The bytes must be padded. */
  hash({ view, length }: ByteSink): void {
    const { highwayWasm, words } = this;
    const rest = length % PACKET_BYTES;
    absorbBlocks(highwayWasm, words, view, length - rest, PACKET_BYTES);
    if (rest > 0) this.readRest(view, length - rest, rest);
    highwayWasm.finish(rest);
    this.firstLow = words[0]!;
    this.firstHigh = words[1]!;
    this.secondLow = words[2]!;
    this.secondHigh = words[3]!;
  }

  /**
   * The packet of the last 1 to 31 bytes: whole words at its start; the others at its end or, of less than 16
   * bytes, in its middle.
   */
  private readRest(view: DataView, start: number, size: number): void {
    const { words } = this;
    const wholeWords = size >>> 2;
    const odd = size & 3;
    for (let word = 0; word < PACKET_BYTES / 4; word++) {
      words[word] = word < wholeWords ? view.getInt32(start + word * 4, true) : 0;
    }
    if (size >= 16) {
      words[7] = view.getInt32(start + size - 4, true);
    } else if (odd !== 0) {
      const at = start + wholeWords * 4;
      words[4] =
        view.getUint8(at) | (view.getUint8(at + (odd >>> 1)) << 8) | (view.getUint8(at + odd - 1) << 16);
    }
  }
}
