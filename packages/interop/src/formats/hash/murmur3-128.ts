import { instantiate } from 'nestjs-bloom/internal';
import type { ByteSink } from '../id/byte-sink.js';
import { absorbBlocks, BLOCKS_AT, type WasmHash } from './wasm-hash.js';
import { wasmModules } from './wasm.generated.js';
import { NOTHING_ABSORBED } from '../peers.messages.js';

const BLOCK_BYTES = 16;
/** Where the bytes after the last whole block are, in words. */
const REST_AT = 4;

interface MurmurModule extends WasmHash {
  finish(length: number): void;
  finishWithSuffixes(length: number, from: number, end: number): void;
}

let wasm: MurmurModule | undefined;
/** What the module has absorbed. */
let absorbed: ByteSink | undefined;

/**
 * MurmurHash3 x64 128 with seed 0: two 64-bit numbers, each left in two halves. In WebAssembly, which has numbers of 64 bits.
 */
export class Murmur3 {
  h1High = 0;
  h1Low = 0;
  h2High = 0;
  h2Low = 0;

  private readonly wasm = (wasm ??= instantiate<MurmurModule>(wasmModules.murmur3));
  private readonly words = new Int32Array(this.wasm.memory.buffer);
  private bytes: ByteSink | undefined;

  /** The bytes must be padded. */
  hash(bytes: ByteSink): void {
    const { wasm, words } = this;
    this.absorb(bytes);
    wasm.finish(bytes.length);
    this.h1Low = words[0]!;
    this.h1High = words[1]!;
    this.h2Low = words[2]!;
    this.h2High = words[3]!;
  }

  /** Takes in what the hashes of `finishWithSuffixes` begin with. The bytes must be padded, and stay as they are until then. */
  absorb(bytes: ByteSink): void {
    const { wasm, words } = this;
    const { view, length } = bytes;
    const whole = length - (length % BLOCK_BYTES);
    absorbBlocks(wasm, words, view, whole, BLOCK_BYTES);
    for (let word = 0; word < BLOCK_BYTES / 4; word++) {
      words[REST_AT + word] = view.getInt32(whole + word * 4, true);
    }
    this.bytes = bytes;
    absorbed = bytes;
  }

  /**
   * The first halves of the hashes of what was absorbed followed by the byte i, for i from `from` to below `end`: high and low at 2i
   * and 2i + 1.
   */
  finishWithSuffixes(halves: Int32Array, from: number, end: number): void {
    const { wasm, words, bytes } = this;
    if (bytes === undefined) throw new Error(NOTHING_ABSORBED);
    if (absorbed !== bytes) this.absorb(bytes);
    wasm.finishWithSuffixes(bytes.length, from, end);
    for (let i = from; i < end; i++) {
      halves[2 * i] = words[BLOCKS_AT + 2 * i + 1]!;
      halves[2 * i + 1] = words[BLOCKS_AT + 2 * i]!;
    }
  }
}
