import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { integer, lowerCase, MAX_ID_BYTES_LIMIT, nfc, uuid } from '../../src/filter/index.js';

describe('One id in several spellings', () => {
  it.each([
    ['SKU-1', 'sku-1'],
    ['Straße', 'STRASSE'],
    ['ΟΔΟΣ', 'οδος'],
    ['café', 'CAFE\u0301'],
    ['İstanbul', 'istanbul'],
    ['ﬁn', 'FIN'],
    [' sku-1 ', 'sku-1'],
    ['STRAẞE', 'straße'],
    ['œuvre', 'OEUVRE'],
    ['Ægir', 'AEGIR'],
    ['Łódź', 'lodz'],
    ['Søren', 'soren'],
    ['đỗ', 'DO'],
    ['ħal', 'HAL'],
    ['ısparta', 'ISPARTA'],
    ['ſku', 'SKU'],
    ['col·lecció', 'coŀlecciÓ'],
    ['Ґанок', 'ганок'],
    ['Йод', 'и\u0306од'],
    ['शून्य-१२', 'शून्य-12'],
    ['٤٢', '42'],
    ['ＳＫＵ－４２', 'sku-42'],
    ['❷', '②'],
    ['カード', 'ｶｰﾄﾞ'],
    ['ひらがな', 'ヒラガナ'],
    ['キャッシュ', 'キヤツシユ'],
    ['ךלם', 'כלמ'],
    ['قرآن', 'قران'],
    ['ســلام', 'سلام'],
    ['เก', 'กเ'],
    ['sku\u200b-1', 'sku-1'],
    ['s\u00adku-1', 'sku-1'],
    ['\ufeffsku-1', 'sku-1'],
    ['sku-1\u0000', 'sku-1'],
    ['sku-1 \u200d', 'sku-1'],
    ['😀', '😁'],
  ])('is one to a case-insensitive column: %j, %j', (one, other) => {
    expect(lowerCase(one)).toBe(lowerCase(other));
  });

  it('keeps ids of letters and digits of ASCII apart and in order for a case-insensitive column', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[!-@[-~]{1,40}$/), (text) => {
        expect(lowerCase(text)).toBe(text);
        expect(lowerCase(text.toUpperCase())).toBe(text);
      }),
    );
  });

  it('is made character by character for a case-insensitive column, so that equal characters make equal texts', () => {
    const between = (text: string) => String(lowerCase(`|${text}|`)).slice(1, -1);
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.nat(1_100),
        fc.string({ unit: 'binary' }),
        (one, n, other) => {
          const text = one + 'é'.repeat(n);
          expect(between(text + other)).toBe(between(one) + 'e'.repeat(n) + between(other));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('has the engine decompose short pieces without marks, which it sorts in quadratic time, and no more of them than any filter takes', () => {
    const normalize = jest.spyOn(String.prototype, 'normalize');
    try {
      const marks = '\u0301\u0323'.repeat(50_000);
      expect(lowerCase(`é${marks}`)).toBe('e');
      expect(nfc(`e${marks}`)).toBe(`e${marks}`);
      expect(lowerCase('😀'.repeat(50_000))).toHaveLength(50_000);
      // One character becomes eighteen.
      expect(lowerCase('\ufdfa'.repeat(1_000_000)).toString().length).toBeLessThan(
        MAX_ID_BYTES_LIMIT + 18 * 1_025,
      );
      const pieces = normalize.mock.contexts.map(String);
      expect(pieces.length).toBeGreaterThan(100);
      expect(pieces.filter((piece) => piece.length > 1_025 || /\p{M}/u.test(piece))).toEqual([]);
      expect(pieces.filter((piece) => piece.includes('\ufdfa')).length).toBeLessThan(10);
    } finally {
      normalize.mockRestore();
    }
    expect(nfc(`a${'\u0301\u0323'.repeat(32)}`)).toBe(`ạ${'\u0323'.repeat(31)}${'\u0301'.repeat(32)}`);
  });

  it('is the decimal text of no more digits than a database has, whatever is asked', () => {
    expect(integer(`0x${'f'.repeat(100_000)}`)).toBe('0');
    expect(integer(`0x${'0'.repeat(100_000)}7`)).toBe('7');
    expect(integer(`${'0'.repeat(100_000)}7`)).toBe('7');
    expect(integer(`0b${'1'.repeat(64)}`)).toBe('18446744073709551615');
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
