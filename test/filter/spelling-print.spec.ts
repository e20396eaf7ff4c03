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
    expect(printOf()).toBe('a5fe2ec70ee84189');
  });
});
