import { BLOCK_BYTES } from '../../../../filter/index.js';
import { SEGMENT_BLOCKS } from './segments.js';

/** Room for two numbers below 2^20: for each its length and its decimal digits. */
export const RANGE_BYTES = 16;

/** For each block of a segment its first and its last byte, as the scripts read them. */
const texts = Buffer.alloc(SEGMENT_BLOCKS * RANGE_BYTES);
const lengths = new Uint8Array(SEGMENT_BLOCKS);

for (let block = 0; block < SEGMENT_BLOCKS; block++) {
  const start = block * RANGE_BYTES;
  let at = start;
  for (const byte of [block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES - 1]) {
    const length = texts.write(String(byte), at + 1, 'latin1');
    texts[at] = length;
    at += 1 + length;
  }
  lengths[block] = at - start;
}

/** Writes the range of a block within its segment, at most `RANGE_BYTES`; returns where it ends. */
export function writeRange(to: Uint8Array, at: number, block: number): number {
  const start = block * RANGE_BYTES;
  const end = start + lengths[block]!;
  for (let i = start; i < end; i++) to[at++] = texts[i]!;
  return at;
}
