import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BloomId } from 'nestjs-bloom/filter';

/** A key as the vectors list it: one of `keys.json` by its name, or a number. */
export interface VectorKey {
  readonly id?: string;
  readonly long?: string;
  readonly int?: number;
}
type ListedKey = string | { readonly hex: string } | { readonly utf16: readonly string[] };

const KEYS = readVectors<Readonly<Record<string, ListedKey>>>('keys');

/** Values that a peer printed; see `vectors/README.md`. */
export function readVectors<Vectors>(peer: string): Vectors {
  return JSON.parse(
    readFileSync(join('packages/interop/test/formats/vectors', `${peer}.json`), 'utf8'),
  ) as Vectors;
}

export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** The id that a key is: a number, text, or bytes. */
export function idOf({ id, long, int }: VectorKey): BloomId {
  if (long !== undefined) return BigInt(long);
  return int ?? named(id!);
}

/** The text of this name, or the bytes where the key is no text. */
export function named(name: string): string | Uint8Array {
  const key = KEYS[name]!;
  if (typeof key === 'string') return key;
  if ('hex' in key) return fromHex(key.hex);
  return String.fromCharCode(...key.utf16.map((unit) => Number.parseInt(unit, 16)));
}

/** The bytes of this name; UTF-8 of text. */
export function bytesOf(name: string): Uint8Array {
  const key = named(name);
  return typeof key === 'string' ? new TextEncoder().encode(key) : key;
}

/** Keys as the rows of a table of tests. */
export function rows<Key extends VectorKey>(keys: readonly Key[]): { name: string; key: Key }[] {
  return keys.map((key) => ({ name: String(key.id ?? key.long ?? key.int), key }));
}
