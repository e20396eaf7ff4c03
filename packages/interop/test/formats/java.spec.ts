import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatJavaDouble, naturalLogarithm, parseJavaDouble } from '../../src/formats/java.js';

describe('The logarithm', () => {
  // Printed by Java 17 and by glibc, which agree; `Math.log` of V8 is off in the last place for all but the
  // first two.
  it.each([
    [1, 0],
    [Number.MIN_VALUE, -744.4400719213812],
    [1 - 2 ** -53, -1.1102230246251565e-16],
    [2, Math.LN2],
  ])('of %d is %d', (x, logarithm) => {
    expect(naturalLogarithm(x)).toBe(logarithm);
  });

  it('is next to that of V8', () => {
    fc.assert(
      fc.property(fc.double({ min: Number.MIN_VALUE, max: 1e300, noNaN: true }), (x) => {
        const difference = Math.abs(naturalLogarithm(x) - Math.log(x));
        expect(difference).toBeLessThanOrEqual(Math.abs(Math.log(x)) * 2 ** -52);
      }),
      { numRuns: 500 },
    );
  });
});

describe('A double as Java writes it', () => {
  // Printed by Java 17.
  it.each([
    [0, '0.0'],
    [1, '1.0'],
    [0.5, '0.5'],
    [0.03, '0.03'],
    [0.001, '0.001'],
    [0.0001, '1.0E-4'],
    [0.00012345, '1.2345E-4'],
    [1e-10, '1.0E-10'],
    [1e-7, '1.0E-7'],
    [1 - 2 ** -53, '0.9999999999999999'],
    [Number.MIN_VALUE, '4.9E-324'],
  ])('is, of %d, %s', (value, text) => {
    expect(formatJavaDouble(value)).toBe(text);
    expect(parseJavaDouble(text)).toBe(value);
  });

  it('can be read again', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (value) => {
        expect(parseJavaDouble(formatJavaDouble(value))).toBe(value);
      }),
    );
  });
});
