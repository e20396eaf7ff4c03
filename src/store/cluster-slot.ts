export const SLOTS = 16_384;
const POLYNOMIAL = 0x1021;

/**
 * The hash slot of a key, as the Redis Cluster specification has it: CRC16 of its hash tag, or of all of it.
 */
export function clusterSlot(key: string): number {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  const hashed = open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}
