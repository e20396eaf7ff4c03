import { describe, expect, it } from '@jest/globals';
import { type BloomId, NORMALIZERS, spellingPrint, toIdKey } from '../../src/filter/index.js';

type Normalize = (id: BloomId) => BloomId;

const printOf = (normalize?: Normalize) =>
  spellingPrint((id) => toIdKey(normalize ? normalize(id as BloomId) : id));

const onText = (change: (id: string) => string) => (id: BloomId) =>
  typeof id === 'string' ? change(id) : id;

const OTHERS: [string, Normalize][] = [
  ['lower case', onText((id) => id.toLowerCase())],
  ['upper case', onText((id) => id.toUpperCase())],
  ['lower case of what is no text as well', (id) => String(id).toLowerCase()],
  ['without spaces', onText((id) => id.trim())],
  ['without spaces at the end', onText((id) => id.trimEnd())],
  ['without leading zeros', onText((id) => id.replace(/^0+/, ''))],
  ['as a number', (id) => Number(id)],
  ['NFD', onText((id) => id.normalize('NFD'))],
  ['NFKC', onText((id) => id.normalize('NFKC'))],
  ['without hyphens', onText((id) => id.replaceAll('-', ''))],
  ['a prefix', onText((id) => `product:${id}`)],
  ['cut', onText((id) => id.slice(0, 20))],
  ['bytes as hexadecimal digits', (id) => (id instanceof Uint8Array ? Buffer.from(id).toString('hex') : id)],
  ['numbers apart from texts', (id) => (typeof id === 'number' ? `n${id}` : id)],
  ['without the tenant', onText((id) => id.split(':').pop()!)],
  ['the last part of a path', onText((id) => id.split('/').pop()!)],
  ['without scheme', onText((id) => id.replace(/^https?:\/\//, ''))],
  ['without query', onText((id) => id.replace(/[?].*$/, ''))],
  ['without fragment', onText((id) => id.replace(/#.*$/, ''))],
  ['decoded', onText((id) => id.replaceAll('%41', 'A'))],
  ['addresses of mail in lower case', onText((id) => (id.includes('@') ? id.toLowerCase() : id))],
  ['addresses of mail without tag', onText((id) => id.replace(/\+.*@/, '@'))],
  ['ULIDs in upper case', onText((id) => (/^[0-7][\da-z]{25}$/.test(id) ? id.toUpperCase() : id))],
  ['EANs of 13 digits', onText((id) => (/^\d{12}$/.test(id) ? `0${id}` : id))],
  ['ISBNs of 10 digits', onText((id) => id.replace(/^978(?=\d{10}$)/, ''))],
  ['without sign', onText((id) => id.replace(/^-/, ''))],
  ['without commas', onText((id) => id.replaceAll(',', ''))],
  ['without brackets', onText((id) => id.replace(/[()[\]]/g, ''))],
  ['without quotes', onText((id) => id.replaceAll('"', ''))],
  ['without padding of base64', onText((id) => id.replace(/=+$/, ''))],
  ['spaces that break, for those that do not', onText((id) => id.replaceAll('\u00a0', ' '))],
  ['Cyrillic in lower case', onText((id) => id.replace(/[А-Я]/g, (letter) => letter.toLowerCase()))],
  ['cut late', onText((id) => id.slice(0, 255))],
  ['integers that a number holds', (id) => (typeof id === 'bigint' ? Number(BigInt.asIntN(53, id)) : id)],
  ['bytes of a digest', (id) => (id instanceof Uint8Array && id.length === 20 ? id.slice(1) : id)],
  ['an error for what is no text', (id) => (id as string).trim()],
];

describe('The print of a spelling', () => {
  it('is the same for all functions that make the same keys', () => {
    expect(printOf((id) => id)).toBe(printOf());
    expect(printOf((id) => String(id).toLowerCase())).toBe(printOf((id) => `${String(id)}`.toLowerCase()));
    expect(printOf()).toMatch(/^[\da-f]{16}$/);
  });

  it('differs for each function of this package and for common ones of applications', () => {
    const all = [undefined, ...Object.values(NORMALIZERS), ...OTHERS.map(([, normalize]) => normalize)];
    const prints = all.map((normalize) => printOf(normalize));
    expect(new Set(prints).size).toBe(all.length);
  });

  it('is not changed by a function that writes into the bytes of an id', () => {
    const clearing = (id: BloomId) => (id instanceof Uint8Array ? id.fill(1) : id);
    expect(printOf(clearing)).toBe(printOf(clearing));
  });

  it('is that of other processes and versions', () => {
    // Another value has every filter rebuilt when processes of two versions run.
    expect(printOf()).toBe('9d6d3a624b643e92');
  });
});
