import { instantiate } from 'nestjs-bloom/internal';
import type { ByteSink } from '../id/byte-sink.js';
import { absorbBlocks, type WasmHash } from './wasm-hash.js';
import { wasmModules } from './wasm.generated.js';

const PACKET_BYTES = 32;

interface HighwayModule extends WasmHash {
  finish(size: number): void;
}

let wasm: HighwayModule | undefined;

/**
 * HighwayHash with 128 bits of output and Redisson's key: two 64-bit numbers, each left in two halves. In WebAssembly, which has
 * numbers of 64 bits and of two times 64.
 */
export class HighwayHash {
  firstHigh = 0;
  firstLow = 0;
  secondHigh = 0;
  secondLow = 0;

  private readonly wasm = (wasm ??= instantiate<HighwayModule>(wasmModules.highwayHash));
  /** The last packet, then the hash. */
  private readonly words = new Int32Array(this.wasm.memory.buffer);

  /** The bytes must be padded. */
  hash({ view, length }: ByteSink): void {
    const { wasm, words } = this;
    const rest = length % PACKET_BYTES;
    absorbBlocks(wasm, words, view, length - rest, PACKET_BYTES);
    if (rest > 0) this.readRest(view, length - rest, rest);
    wasm.finish(rest);
    this.firstLow = words[0]!;
    this.firstHigh = words[1]!;
    this.secondLow = words[2]!;
    this.secondHigh = words[3]!;
  }

  /** The packet of the last 1 to 31 bytes: whole words at its start; the others at its end or, of less than 16 bytes, in its middle. */
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
