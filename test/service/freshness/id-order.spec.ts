import { describe, expect, it } from '@jest/globals';
import { compareKeys, isOfOrder } from '../../../src/service/freshness/id-order.js';
import { leastCpuMsOf } from '../../support/cpu-time.js';

/** As Postgres with the collation "C", and SQLite, compare. */
const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

describe('The order of ids', () => {
  it('compares integers of any size exactly, whatever their sign and spelling', () => {
    const ascending = [
      '-9007199254740993',
      '-12',
      '-0',
      '7',
      '+12',
      '0013',
      '9007199254740992',
      '9007199254740993',
      '9'.repeat(400),
    ];
    for (const [i, one] of ascending.entries())
      for (const [j, other] of ascending.entries())
        expect(Math.sign(compareKeys('integer', one, other)) === Math.sign(i - j)).toBe(true);
    expect(compareKeys('integer', '-0', '+000')).toBe(0);
  });

  it.each(['', ' 1', '1.0', '1e3', '0x10', 'a', '１', new Uint8Array([49])])('has no integer %p', (key) => {
    expect(isOfOrder('integer', key)).toBe(false);
  });

  it('tells what is no integer in linear time, however many zeros it begins with', async () => {
    const zeros = '0'.repeat(65_000);
    const ofIntegers = await leastCpuMsOf(() => {
      for (let i = 0; i < 1_000; i++) isOfOrder('integer', `${zeros}${i}`);
    });
    expect(await leastCpuMsOf(() => isOfOrder('integer', `${zeros}a`))).toBeLessThan(ofIntegers);
  });

  it('compares texts by code points, also beyond 0xffff, where UTF-16 has another order', () => {
    const texts = [
      '',
      '0',
      '01',
      '1',
      'A',
      'a',
      'é',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '\u{1f600}',
      '\u{10ffff}',
      'a\u{10000}',
      'a\uffff',
    ];
    for (const one of texts)
      for (const other of texts)
        expect(Math.sign(compareKeys('text', one, other))).toBe(Math.sign(byBytes(one, other)));
  });
});
