import type { WasmExports } from 'nestjs-bloom/internal';

/** What the modules of `wat/` export alike. */
export interface WasmHash extends WasmExports {
  /** Forgets what was absorbed. */
  start(): void;
  /** Takes in whole blocks, which begin at `BLOCKS_AT`. */
  absorb(blocks: number): void;
}

/** Where whole blocks begin in the memory of a module, in words of 32 bits. */
export const BLOCKS_AT = 8;
/** Bytes absorbed at once: a module has 64 KiB in all. */
const ABSORBED_BYTES = 32_768;

/** Starts a hash with the first `bytes` bytes of a view: a number of whole blocks. */
export function absorbBlocks(
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
