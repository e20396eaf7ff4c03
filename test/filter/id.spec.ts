import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BloomIdError } from '../../src/common/index.js';
import { MAX_ID_BYTES_LIMIT, toIdKey } from '../../src/filter/index.js';
import { leastCpuMsOf } from '../support/cpu-time.js';

describe('An id', () => {
  it('is the decimal text of a number, whatever the type of that number', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (id) => {
        expect(toIdKey(id)).toBe(String(id));
        expect(toIdKey(BigInt(id))).toBe(String(id));
      }),
    );
    expect(toIdKey(-0)).toBe('0');
  });

  it('is the decimal text of a bigint of any size an id may have', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }), (id) =>
        expect(toIdKey(id)).toBe(String(id)),
      ),
    );
  });

  it('is text and bytes as they are', () => {
    expect(toIdKey('SKU-1')).toBe('SKU-1');
    expect(toIdKey(' ')).toBe(' ');
    const bytes = Uint8Array.of(0);
    expect(toIdKey(bytes)).toBe(bytes);
    const buffer = Buffer.from('ab');
    expect(toIdKey(buffer)).toBe(buffer);
  });

  it('that is a bigint longer than any id is not written out in quadratic time', async () => {
    const long = 1n << (2n ** 22n);
    const writingMs = await leastCpuMsOf(() => String(long), 1);
    const takingMs = await leastCpuMsOf(() => {
      expect(toIdKey(long).length).toBeGreaterThan(MAX_ID_BYTES_LIMIT);
    });
    expect(takingMs).toBeLessThan(writingMs / 3);
  });

  it.each<[string, unknown, string]>([
    ['an empty string', '', 'got an empty string'],
    ['no bytes', new Uint8Array(), 'got an empty Uint8Array'],
    ['a fraction', 1.5, 'got the number 1.5'],
    ['NaN', NaN, 'got the number NaN'],
    ['infinity', -Infinity, 'got the number -Infinity'],
    ['a number that is not exact', 2 ** 53, 'got the number 9007199254740992'],
    ['undefined', undefined, 'got undefined'],
    ['null', null, 'got null'],
    ['a boolean', true, 'got boolean'],
    ['a symbol', Symbol('id'), 'got symbol'],
    ['a function', () => 'id', 'got function'],
    ['an array', ['id'], 'got an array'],
    ['an object', { id: 1 }, 'got an object'],
    ['an object that would convert to text', { toString: () => 'id' }, 'got an object'],
    ['a date', new Date(0), 'got an object of class Date'],
    ['other typed arrays', new Uint16Array(2), 'got an object of class Uint16Array'],
    ['a bare buffer', new ArrayBuffer(2), 'got an object of class ArrayBuffer'],
  ])('cannot be %s', (_, value, got) => {
    expect(() => toIdKey(value)).toThrow(BloomIdError);
    expect(() => toIdKey(value)).toThrow(
      `Expected an id (a non-empty string, a safe integer, a bigint or a non-empty Uint8Array), ${got}. ` +
        (Number.isInteger(value)
          ? 'JavaScript has rounded this integer. Have the driver give integers of 64 bits as texts or bigints'
          : 'Pass the id itself, or say where it is by the option id'),
    );
  });
});
