// The hashes of the peers with big integers, written after their descriptions rather than for speed.

const MASK = (1n << 64n) - 1n;
const LOW = 0xffffffffn;

function u64(value: bigint): bigint {
  return value & MASK;
}

function rotate(value: bigint, bits: bigint): bigint {
  return u64((value << bits) | (value >> (64n - bits)));
}

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

function padded(bytes: Uint8Array, length: number): Uint8Array {
  const copy = new Uint8Array(length);
  copy.set(bytes);
  return copy;
}

/** MurmurHash3 x64 128, seed 0. */
export function referenceMurmur3(bytes: Uint8Array): [h1: bigint, h2: bigint] {
  const c1 = 0x87c37b91114253d5n;
  const c2 = 0x4cf5ad432745937fn;
  const mix1 = (k: bigint) => u64(rotate(u64(k * c1), 31n) * c2);
  const mix2 = (k: bigint) => u64(rotate(u64(k * c2), 33n) * c1);
  const final = (k: bigint) => {
    k = u64((k ^ (k >> 33n)) * 0xff51afd7ed558ccdn);
    k = u64((k ^ (k >> 33n)) * 0xc4ceb9fe1a85ec53n);
    return k ^ (k >> 33n);
  };
  let h1 = 0n;
  let h2 = 0n;
  const whole = bytes.length - (bytes.length % 16);
  for (let at = 0; at < whole; at += 16) {
    h1 ^= mix1(littleEndian(bytes.subarray(at, at + 8)));
    h1 = u64((rotate(h1, 27n) + h2) * 5n + 0x52dce729n);
    h2 ^= mix2(littleEndian(bytes.subarray(at + 8, at + 16)));
    h2 = u64((rotate(h2, 31n) + h1) * 5n + 0x38495ab5n);
  }
  const rest = padded(bytes.subarray(whole), 16);
  h1 ^= mix1(littleEndian(rest.subarray(0, 8))) ^ BigInt(bytes.length);
  h2 ^= mix2(littleEndian(rest.subarray(8))) ^ BigInt(bytes.length);
  h1 = u64(h1 + h2);
  h2 = u64(h2 + h1);
  h1 = final(h1);
  h2 = final(h2);
  h1 = u64(h1 + h2);
  return [h1, u64(h2 + h1)];
}

export function referenceMurmur64A(bytes: Uint8Array, seed: bigint): bigint {
  const m = 0xc6a4a7935bd1e995n;
  let h = seed ^ u64(BigInt(bytes.length) * m);
  const whole = bytes.length - (bytes.length % 8);
  for (let at = 0; at < whole; at += 8) {
    let k = u64(littleEndian(bytes.subarray(at, at + 8)) * m);
    k = u64((k ^ (k >> 47n)) * m);
    h = u64((h ^ k) * m);
  }
  if (whole < bytes.length) h = u64((h ^ littleEndian(bytes.subarray(whole))) * m);
  h = u64((h ^ (h >> 47n)) * m);
  return h ^ (h >> 47n);
}

/** HighwayHash with 128 bits and the key of Redisson. */
export function referenceHighwayHash(bytes: Uint8Array): [first: bigint, second: bigint] {
  const key = [0x9e3779b97f4a7c15n, 0xf39cc0605cedc834n, 0x1082276bf3a27251n, 0xf86c6a11d0c18e95n];
  const mul0 = [0xdbe6d5d5fe4cce2fn, 0xa4093822299f31d0n, 0x13198a2e03707344n, 0x243f6a8885a308d3n];
  const mul1 = [0x3bd39e10cb0ef593n, 0xc0acf169b5f18a8cn, 0xbe5466cf34e90c6cn, 0x452821e638d01377n];
  const swap = (x: bigint) => rotate(x, 32n);
  const v0 = mul0.map((value, i) => value ^ key[i]!);
  const v1 = mul1.map((value, i) => value ^ swap(key[i]!));
  const zipTo = (to: bigint[], from: readonly bigint[], pair: number) => {
    const number = from[pair]! | (from[pair + 1]! << 64n);
    const pick = (order: readonly number[]) =>
      order.reduceRight((value, byte) => (value << 8n) | ((number >> BigInt(byte * 8)) & 0xffn), 0n);
    to[pair] = u64(to[pair]! + pick([3, 12, 2, 5, 14, 1, 15, 0]));
    to[pair + 1] = u64(to[pair + 1]! + pick([11, 4, 10, 13, 9, 6, 8, 7]));
  };
  const update = (a: readonly bigint[]) => {
    for (let i = 0; i < 4; i++) v1[i] = u64(v1[i]! + mul0[i]! + a[i]!);
    for (let i = 0; i < 4; i++) {
      mul0[i] = mul0[i]! ^ ((v1[i]! & LOW) * (v0[i]! >> 32n));
      v0[i] = u64(v0[i]! + mul1[i]!);
      mul1[i] = mul1[i]! ^ ((v0[i]! & LOW) * (v1[i]! >> 32n));
    }
    zipTo(v0, v1, 0);
    zipTo(v0, v1, 2);
    zipTo(v1, v0, 0);
    zipTo(v1, v0, 2);
  };
  const updateWithPacket = (packet: Uint8Array) =>
    update([0, 8, 16, 24].map((at) => littleEndian(packet.subarray(at, at + 8))));

  const size = bytes.length % 32;
  const whole = bytes.length - size;
  for (let at = 0; at < whole; at += 32) updateWithPacket(bytes.subarray(at, at + 32));
  if (size !== 0) {
    const rotate32 = (x: bigint) => ((x << BigInt(size)) | (x >> BigInt(32 - size))) & LOW;
    for (let i = 0; i < 4; i++) {
      v0[i] = u64(v0[i]! + (BigInt(size) << 32n) + BigInt(size));
      v1[i] = (rotate32(v1[i]! >> 32n) << 32n) | rotate32(v1[i]! & LOW);
    }
    const rest = bytes.subarray(whole);
    const words = size & ~3;
    const odd = size & 3;
    const packet = padded(rest.subarray(0, words), 32);
    if (size >= 16) packet.set(rest.subarray(size - 4), 28);
    else if (odd !== 0) packet.set([rest[words]!, rest[words + (odd >> 1)]!, rest[size - 1]!], 16);
    updateWithPacket(packet);
  }
  for (let round = 0; round < 6; round++) update([swap(v0[2]!), swap(v0[3]!), swap(v0[0]!), swap(v0[1]!)]);
  return [u64(v0[0]! + mul0[0]! + v1[2]! + mul1[2]!), u64(v0[1]! + mul0[1]! + v1[3]! + mul1[3]!)];
}
