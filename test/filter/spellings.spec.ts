import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { integer, lowerCase, nfc, uuid } from '../../src/filter/index.js';

describe('One id in several spellings', () => {
  it.each([
    ['SKU-1', 'sku-1'],
    ['Straße', 'STRASSE'],
    ['ΟΔΟΣ', 'οδος'],
    ['café', 'CAFE\u0301'],
    ['İstanbul', 'istanbul'],
    ['ﬁn', 'FIN'],
    [' sku-1 ', 'sku-1'],
  ])('is one to a case-insensitive column: %j, %j', (one, other) => {
    expect(lowerCase(one)).toBe(lowerCase(other));
  });

  const ID = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
  it.each([
    ['upper case', ID.toUpperCase()],
    ['braces', `{${ID}}`],
    ['no hyphens', ID.replaceAll('-', '')],
    ['hyphens elsewhere', '3f25-04e0-4f89-41d3-9a0c-0305-e82c-3301'],
    ['a URN', `urn:uuid:${ID}`],
    ['bytes', Buffer.from(ID.replaceAll('-', ''), 'hex')],
  ])('is one to a column of UUIDs: %s', (_, spelling) => {
    expect(uuid(spelling)).toBe(ID);
  });

  it.each(['', 'no uuid', `${ID}0`, `{${ID}`, 'x'.repeat(1_000_000)])(
    'leaves what is no UUID: %#',
    (text) => {
      expect(uuid(text)).toBe(text);
    },
  );

  it.each<[string, string]>([
    ['7', '7'],
    ['007', '7'],
    ['+7', '7'],
    [' 7 ', '7'],
    ['7.0', '7'],
    ['7e0', '7'],
    ['70e-1', '7'],
    ['7 pieces', '7'],
    ['0x7', '7'],
    ['0X1f', '31'],
    ['0b111', '7'],
    ['0o7', '7'],
    ['1_000', '1000'],
    ['-7', '-7'],
    ['-007', '-7'],
    ['-0', '0'],
    ['000', '0'],
    ['no number', '0'],
    [' ', ''],
    ['0b2', '0'],
    ['9223372036854775807', '9223372036854775807'],
    ['09223372036854775807.0', '9223372036854775807'],
  ])('is one to a column of integers: %j is %s', (text, expected) => {
    expect(integer(text)).toBe(expected);
  });

  it('is one to a column of integers, for every integer and all that stands before it', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }), fc.nat(5), (value, zeros) => {
        const magnitude = value < 0n ? -value : value;
        const text = `${value < 0n ? '-' : ''}${'0'.repeat(zeros)}${magnitude}`;
        expect(integer(text)).toBe(String(value));
        expect(integer(value)).toBe(value);
      }),
    );
  });

  it('is one in Unicode', () => {
    expect(nfc('cafe\u0301')).toBe('café');
  });

  it.each([lowerCase, uuid, nfc])('is in its one spelling what it was before: %p', (normalize) => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(normalize(normalize(text))).toBe(normalize(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([lowerCase, uuid, integer, nfc])('leaves numbers and bytes: %p', (normalize) => {
    const bytes = new Uint8Array([1, 2]);
    expect(normalize(bytes)).toBe(bytes);
    expect(normalize(12)).toBe(12);
    expect(normalize(12n)).toBe(12n);
  });
});
