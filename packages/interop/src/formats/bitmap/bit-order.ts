/**
 * Where bit i of a filter is. All three orders are one order with some bits of i turned round: with j = i xor the
 * number here, it is bit j & 7, least significant first, of byte j >>> 3.
 */
export const BIT_ORDERS = {
  /** RedisBloom's dumps: byte i >>> 3, mask 1 << (i & 7). */
  'least-significant-first': 0,
  /** Redis `SETBIT`: byte i >>> 3, mask 0x80 >>> (i & 7). */
  'most-significant-first': 7,
  /** Guava's dumps: bit i & 63 of the 64-bit word i >>> 6, each word written big-endian. */
  'big-endian-words': 56,
} as const;

/** How a peer numbers the bits of its bytes. */
export type BitOrder = keyof typeof BIT_ORDERS;

const WORD_BYTES = 8;

/**
 * A bitmap in another order. Words are whole: a bitmap that comes from words or becomes such is filled up with zeros to a
 * multiple of 8 bytes.
 */
export function reorderBits(bytes: Uint8Array, orders: { from: BitOrder; to: BitOrder }): Uint8Array {
  const turned = BIT_ORDERS[orders.from] ^ BIT_ORDERS[orders.to];
  const turnedBytes = turned >>> 3;
  const reordered = new Uint8Array(
    turnedBytes === 0 ? bytes.length : Math.ceil(bytes.length / WORD_BYTES) * WORD_BYTES,
  );
  const isTurned = (turned & 7) !== 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    // at - (at % 8) + ((at % 8) ^ turned): `^` alone would cut an index of over 31 bits.
    const inWord = at % WORD_BYTES;
    reordered[at - inWord + (inWord ^ turnedBytes)] = isTurned ? reversed(byte) : byte;
  }
  return reordered;
}

function reversed(byte: number): number {
  byte = ((byte & 0x55) << 1) | ((byte >>> 1) & 0x55);
  byte = ((byte & 0x33) << 2) | ((byte >>> 2) & 0x33);
  return ((byte & 0x0f) << 4) | (byte >>> 4);
}
