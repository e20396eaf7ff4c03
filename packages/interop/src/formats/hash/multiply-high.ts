const INVERSE = 2 ** -32;
/** Lower halves from here on may be so near to 2^32 that the product, rounded to a double, was rounded beyond it. */
const NEAR_OVERFLOW = 2 ** 32 - 1024;

/**
 * The upper 32 bits of the product of two unsigned integers of 32 bits, as a signed one. The product as a double is wrong by 2^10
 * at most, and its lower half, which `imul` has exactly, shows whether that reaches the upper one. Four products of 16 bits would
 * do as well, but take half as long again where many products are under way at once.
 */
export function multiplyHigh(a: number, b: number): number {
  const product = (a >>> 0) * (b >>> 0);
  const low = Math.imul(a, b) >>> 0;
  return low < NEAR_OVERFLOW ? (product * INVERSE) | 0 : ((product - low) * INVERSE + 0.5) | 0;
}
