/** How many rounds a word and the end get: 2 and 4 in the published test vectors, 1 and 3 in this library. */
export interface Rounds {
  readonly compression: number;
  readonly finalization: number;
}

/**
 * HalfSipHash with 64 bits of output, written after the description rather than for speed: big integers, the
 * padded message as one array of bytes.
 */
export function referenceHalfSipHash(
  message: Uint8Array,
  key: readonly [number, number],
  rounds: Rounds,
): [first: number, last: number] {
  const k0 = BigInt(key[0]);
  const k1 = BigInt(key[1]);
  const v: [bigint, bigint, bigint, bigint] = [k0, k1 ^ 0xeen, k0 ^ 0x6c796765n, k1 ^ 0x74656462n];
  for (const word of words(message)) {
    v[3] ^= word;
    for (let round = 0; round < rounds.compression; round++) mix(v);
    v[0] ^= word;
  }
  v[2] ^= 0xeen;
  for (let round = 0; round < rounds.finalization; round++) mix(v);
  const first = v[1] ^ v[3];
  v[1] ^= 0xddn;
  for (let round = 0; round < rounds.finalization; round++) mix(v);
  return [Number(first), Number(v[1] ^ v[3])];
}

/** The message filled up with zeros and, as its last byte, its length modulo 256; as little-endian words. */
function words(message: Uint8Array): bigint[] {
  const padded = new DataView(new ArrayBuffer((Math.floor(message.length / 4) + 1) * 4));
  message.forEach((byte, at) => padded.setUint8(at, byte));
  padded.setUint8(padded.byteLength - 1, message.length % 256);
  return Array.from({ length: padded.byteLength / 4 }, (_, word) => BigInt(padded.getUint32(word * 4, true)));
}

function mix(v: [bigint, bigint, bigint, bigint]): void {
  v[0] = add(v[0], v[1]);
  v[1] = rotate(v[1], 5n) ^ v[0];
  v[0] = rotate(v[0], 16n);
  v[2] = add(v[2], v[3]);
  v[3] = rotate(v[3], 8n) ^ v[2];
  v[0] = add(v[0], v[3]);
  v[3] = rotate(v[3], 7n) ^ v[0];
  v[2] = add(v[2], v[1]);
  v[1] = rotate(v[1], 13n) ^ v[2];
  v[2] = rotate(v[2], 16n);
}

function add(a: bigint, b: bigint): bigint {
  return BigInt.asUintN(32, a + b);
}

function rotate(value: bigint, bits: bigint): bigint {
  return BigInt.asUintN(32, (value << bits) | (value >> (32n - bits)));
}
