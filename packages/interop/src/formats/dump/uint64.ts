/** An unsigned 64-bit integer, little-endian, as RedisBloom's headers have them. */
export function writeUint64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 0x100000000, true);
  view.setUint32(at + 4, Math.floor(value / 0x100000000), true);
}

/** The same; beyond 2^53 it is rounded. */
export function readUint64(view: DataView, at: number): number {
  return view.getUint32(at + 4, true) * 0x100000000 + view.getUint32(at, true);
}
