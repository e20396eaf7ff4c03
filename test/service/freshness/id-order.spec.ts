import { describe, expect, it } from '@jest/globals';
import { compareKeys, coveredKeys, isOfOrder } from '../../../src/service/freshness/id-order.js';
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

  it.each(['20', '+0020', '999999999999999', '1000000000000000', '-5', '9'.repeat(20)])(
    'covers integers up to %p that are in no gap, whatever their size and spelling',
    (upTo) => {
      const gaps = [{ to: '-1000' }, { from: '3', to: '7' }, { from: '999999999999990', to: '9'.repeat(18) }];
      const isIn = (at: bigint) =>
        gaps.some(({ from, to }) => at < BigInt(to) && (from === undefined || at > BigInt(from)));
      const covers = coveredKeys('integer', upTo, gaps);
      const near = [0n, 20n, -1000n, 10n ** 15n, BigInt('9'.repeat(18)), BigInt(Number(upTo))];
      for (const at of near.flatMap((middle) =>
        Array.from({ length: 31 }, (_, i) => middle + BigInt(i - 15)),
      )) {
        const padded = `${at < 0n ? '-' : ''}00${String(at < 0n ? -at : at)}`;
        for (const key of [String(at), padded])
          expect([key, covers(key)]).toEqual([key, at <= BigInt(upTo.replace('+', '')) && !isIn(at)]);
      }
      for (const key of ['', '1e1', '0x1', ' 1', '1.5', new Uint8Array([49])])
        expect(covers(key)).toBe(false);
    },
  );

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
