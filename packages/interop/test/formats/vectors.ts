import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BloomId } from 'nestjs-bloom/filter';

/** A key as the vectors list it. */
export interface VectorKey {
  readonly id?: string;
  readonly hex?: string;
  readonly text?: string;
  readonly utf16CodeUnits?: readonly string[];
  readonly long?: string;
  readonly int?: number;
}

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
export function idOf(key: VectorKey): BloomId {
  if (key.long !== undefined) return BigInt(key.long);
  if (key.int !== undefined) return key.int;
  return textOf(key) ?? fromHex(key.hex!);
}

/** The text of a key; undefined of one that is bytes only. */
export function textOf({ text, utf16CodeUnits }: VectorKey): string | undefined {
  if (utf16CodeUnits === undefined) return text;
  return String.fromCharCode(...utf16CodeUnits.map((unit) => Number.parseInt(unit, 16)));
}

/** Keys by their names; of several lists with the same names, those of the first one. */
export function byName<Key extends VectorKey>(keys: readonly Key[]): (name: string) => Key {
  const named = new Map([...keys].reverse().map((key) => [key.id, key]));
  return (name) => named.get(name)!;
}

/** Keys as the rows of a table of tests. */
export function rows<Key extends VectorKey>(keys: readonly Key[]): { name: string; key: Key }[] {
  return keys.map((key) => ({ name: String(key.id ?? key.long ?? key.int), key }));
}
