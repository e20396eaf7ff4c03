import type { BloomId } from './id.js';
import { integer, lowerCase, nfc, objectId, padded, uuid } from './spellings.js';

/** Names of the functions of this package for the option `normalize`. */
export type BloomNormalizeName = 'uuid' | 'lowercase' | 'integer' | 'nfc' | 'padded' | 'objectId';

export const NORMALIZERS: Readonly<Record<BloomNormalizeName, (id: BloomId) => BloomId>> = {
  uuid,
  lowercase: lowerCase,
  integer,
  nfc,
  padded,
  objectId,
};

/** The function of this name, where there is one. */
export function namedNormalizer(name: unknown): ((id: BloomId) => BloomId) | undefined {
  return typeof name === 'string' && Object.hasOwn(NORMALIZERS, name)
    ? NORMALIZERS[name as BloomNormalizeName]
    : undefined;
}
