import { createHash } from 'node:crypto';
import { type IdKey, idKeyText } from './id.js';

/**
 * Ids that functions for `normalize` are likely to treat in different ways. Bytes are made anew for each use.
 */
const probes = (): unknown[] => [
  'a',
  'A',
  'ä',
  'a\u0308',
  'ẞ',
  'ß',
  'œ',
  'ø',
  'ł',
  'İ',
  'ﬁ',
  '１２',
  'a\u200bb',
  ' a ',
  'a ',
  'a\t',
  'Sku-12/b_3',
  '007',
  '+7.0',
  '0x1F',
  'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6',
  '{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}',
  '507F1F77BCF86CD799439011',
  '01arz3ndektsv4rrffq69g5fav',
  '9783161484100',
  '400638133393',
  '-7',
  '1,000',
  'shop:Prod-7',
  'User.Name+tag@Example.com',
  'https://www.example.com/%41/7/?q=1&r=2#top',
  '("a" * [b]);',
  'QUJD+/==',
  'a  b\u00a0c',
  'Яя Ωω',
  'x'.repeat(300),
  7,
  -7,
  7n,
  2n ** 64n - 1n,
  Uint8Array.from({ length: 4 }, (_, i) => 60 * i),
  Uint8Array.from({ length: 12 }, (_, i) => 17 * i),
  Uint8Array.from({ length: 16 }, (_, i) => 255 - i),
  Uint8Array.from({ length: 20 }, (_, i) => 7 * i),
];

/**
 * A short text for what a function makes of ids. Two functions with the same text very likely make the same
 * keys.
 */
export function spellingPrint(toKey: (id: unknown) => IdKey): string {
  const hash = createHash('sha1');
  for (const probe of probes()) hash.update(`${keyText(toKey, probe)}\n`);
  return hash.digest('hex').slice(0, 16);
}

/** `-` where the function throws: it takes no such id. */
function keyText(toKey: (id: unknown) => IdKey, probe: unknown): string {
  try {
    return JSON.stringify(idKeyText(toKey(probe)));
  } catch {
    return '-';
  }
}
