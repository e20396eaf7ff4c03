/** How many bits are set. */
export function countBits(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const whole = bytes.length - (bytes.length % 4);
  let count = 0;
  for (let at = 0; at < whole; at += 4) count += countOfWord(view.getInt32(at));
  for (let at = whole; at < bytes.length; at++) count += countOfWord(bytes[at]!);
  return count;
}

/** By pairs, fours and bytes, which a multiplication adds up. */
function countOfWord(word: number): number {
  word -= (word >>> 1) & 0x55555555;
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
  return Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
