/** Guava's `MURMUR128_MITZ_32`: a + i b in wrapping 32-bit arithmetic, i from 1, negative ones inverted, modulo bits. */
export function fillMitz32(places: Float64Array, bits: number, a: number, b: number): void {
  for (let i = 0, sum = a | 0; i < places.length; i++) {
    sum = (sum + b) | 0;
    places[i] = (sum ^ (sum >> 31)) % bits;
  }
}
