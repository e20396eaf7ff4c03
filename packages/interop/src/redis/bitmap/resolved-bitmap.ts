import { createHash } from 'node:crypto';
import type { IdKey } from 'nestjs-bloom/filter';
import { BIT_ORDERS } from '../../formats/bitmap.js';
import type { BitmapLayout, Geometry } from '../../formats/bitmap-filter.js';
import type { StoredGeneration } from '../generation/generation-meta.js';
import type { ResolvedGeneration } from '../generation/generation-snapshot.js';
import type { BitmapFormat } from './bitmap-format.js';

/** Bits of a filter for each byte that is a canary, so that canaries cost few errors. */
const BITS_PER_CANARY = 500;
const MAX_CANARIES = 8;
/** The positions of an id are turned within a word of so many bits to become offsets of SETBIT. */
const WORD_BITS = 64;

/**
 * A filter of one row of bits in a Redis string: where the bits of an id are, and how the string is known
 * again.
 */
export interface ResolvedBitmap extends ResolvedGeneration {
  readonly key: string;
  readonly geometry: Geometry;
  readonly layout: BitmapLayout;
  /** Length of the whole string, in bytes. */
  readonly length: number;
  /** The bytes before the bits. */
  readonly head: Buffer;
  /** Length, canaries and head, as the scripts that write read them. */
  readonly proof: Buffer;
  /** Byte offsets within the string. */
  readonly canaries: readonly number[];
  /** Fields and values that the settings beside the string must have. */
  readonly geometryFields: readonly string[];
}

export interface BitmapTarget {
  readonly format: BitmapFormat;
  readonly key: string;
  readonly geometry: Geometry;
  readonly canaries: readonly number[];
  readonly token: string;
}

export function resolveBitmap({ format, key, geometry, canaries, token }: BitmapTarget): ResolvedBitmap {
  const { bits, hashCount } = geometry;
  const settings = JSON.stringify({ bits, hashCount, encoding: format.encoding });
  const head = format.head(geometry);
  const length = head.length + Math.ceil(bits / 8);
  return {
    generation: { token, settings, canaries: canaries.join(' ') },
    key,
    geometry: { bits, hashCount },
    layout: format.layout(geometry),
    length,
    head,
    proof: proofOf(length, canaries, head),
    canaries,
    geometryFields: format.geometryFields(geometry),
  };
}

/**
 * The bytes of a string that are set to ones: one without them is another one. They follow from its name,
 * since with bits that are kept from one generation to the next others would gather.
 */
export function canariesOf(key: string, { bits }: Geometry, headBytes: number): number[] {
  const count = Math.min(MAX_CANARIES, Math.ceil(bits / BITS_PER_CANARY));
  // The last byte may have bits that are none of the filter's.
  const wholeBytes = Math.floor(bits / 8);
  // The last one is among them: a string that was cut lacks it, also when an add of a peer makes it as long
  // as it was.
  const places = new Set<number>(wholeBytes > 0 ? [headBytes + wholeBytes - 1] : []);
  for (let i = 0; places.size < Math.min(count, wholeBytes); i++) {
    const digest = createHash('sha256').update(`${i} ${bits} ${key}`).digest();
    places.add(headBytes + (digest.readUIntBE(0, 6) % wholeBytes));
  }
  return [...places];
}

/** What a generation says of its size and its canaries; undefined when it makes no sense. */
export function readGeneration(
  generation: StoredGeneration,
): { geometry: Geometry; encoding: string; canaries: number[] } | undefined {
  try {
    const { bits, hashCount, encoding } = JSON.parse(generation.settings) as Record<string, unknown>;
    const canaries = generation.canaries.split(' ').map(Number);
    const isSound =
      Number.isSafeInteger(bits) &&
      Number.isSafeInteger(hashCount) &&
      typeof encoding === 'string' &&
      canaries.length <= MAX_CANARIES &&
      canaries.every((at) => Number.isSafeInteger(at) && at >= 0);
    if (!isSound) return undefined;
    return { geometry: { bits: bits as number, hashCount: hashCount as number }, encoding, canaries };
  } catch {
    // Not what this library writes.
    return undefined;
  }
}

/**
 * The offsets of the bits of an id within the string, as SETBIT counts.
 *
 * @throws {BloomIdError} for an id that no peer could have added.
 */
export function pushOffsets({ layout, head }: ResolvedBitmap, id: IdKey, offsets: number[]): void {
  const turn = BIT_ORDERS[layout.bitOrder] ^ BIT_ORDERS['most-significant-first'];
  layout.locate(id);
  while (layout.located < layout.hashCount) layout.locateNext();
  for (const place of layout.places) {
    const inWord = place % WORD_BITS;
    offsets.push(8 * head.length + place - inWord + (inWord ^ turn));
  }
}

function proofOf(length: number, canaries: readonly number[], head: Buffer): Buffer {
  const proof = Buffer.alloc(5 + 4 * canaries.length);
  let at = proof.writeUInt32BE(length);
  at = proof.writeUInt8(canaries.length, at);
  for (const canary of canaries) at = proof.writeUInt32BE(canary, at);
  return Buffer.concat([proof, head]);
}
