import { describe, expect, it } from '@jest/globals';
import type { BloomIdSource, BloomMark } from 'nestjs-bloom';
import { timeOf } from '../../../src/rebuild/index.js';
import { firstPlace, MarkPlace } from '../../../src/service/freshness/mark-place.js';
import {
  gapsOf,
  isInGap,
  largestGaps,
  textOfGaps,
  withGaps,
} from '../../../src/service/freshness/id-order.js';

const NOW = Date.parse('2026-07-01T00:00:00Z');

describe('The place of a mark in a reading', () => {
  const findIn = (marks: readonly BloomMark[], { since = 0, areAll = false, rows = 1 } = {}) => {
    const found = new MarkPlace({
      since: areAll ? undefined : since,
      settings: { ordered: true, order: undefined },
      wallMs: NOW,
    });
    for (const mark of marks) found.next(mark, rows);
    return found.place;
  };
  const placeAmong = (marks: readonly BloomMark[], options?: Parameters<typeof findIn>[1]) =>
    findIn(marks, options)?.mark;
  const upTo = (rows: number) => Array.from({ length: rows }, (_, i) => i + 1);

  it.each([
    [100, undefined],
    [101, 1],
    [5000, 4900],
  ])('is a row that a hundred come after: of %d rows after a mark, %p', (rows, place) => {
    expect(placeAmong(upTo(rows))).toBe(place);
  });

  it.each([
    [1, undefined],
    [2, 1],
    [3, 1],
    [10, 5],
    [150, 75],
    [5000, 4900],
  ])('is one that half of the others come after, where all are few: of %d rows, %p', (rows, place) => {
    expect(placeAmong(upTo(rows), { areAll: true })).toBe(place);
  });

  it('is a mark of whole batches, and the last one where there is none and many rows are read', () => {
    expect(placeAmong(upTo(10), { rows: 20 })).toBe(5);
    expect(placeAmong([1], { rows: 999 })).toBeUndefined();
    expect(placeAmong([1], { rows: 1000 })).toBe(1);
  });

  it('comes with the largest gaps between integers that the mark passes', () => {
    const rows = [...upTo(50), ...upTo(50).map((i) => 1000 + 2 * i), ...upTo(200).map((i) => 1e9 + i)];
    const gaps = findIn(rows, { since: -5 })!.gaps;
    expect(gaps.slice(0, 3)).toEqual([
      { from: '1100', to: '1000000001' },
      { from: '50', to: '1002' },
      { from: '-5', to: '1' },
    ]);
    expect(gaps).toHaveLength(8);
    // No gap after the place.
    expect(findIn([...upTo(101), 5000])!.gaps).toEqual([]);
    expect(findIn(upTo(300).map(BigInt), { areAll: true })!.gaps).toEqual([{ to: '1' }]);
    expect(findIn(upTo(300).map((i) => `sku-${1000 + i}`))!.gaps).toEqual([]);
  });

  it.each([undefined, '05d', '060'])(
    'comes with none among texts of which some are digits alone, after the mark %p',
    (since) => {
      const settings = { ordered: true, order: undefined };
      const found = new MarkPlace({ since, settings, wallMs: NOW });
      for (const mark of ['061', '0a1', '150', '1b2', '170', '1c3', '1c4']) found.next(mark, 50);
      expect(found.place).toEqual({ mark: '170', gaps: [] });
    },
  );

  it('keeps the largest gaps of very many', () => {
    const rows = upTo(20_000).map((i) => i * i);
    const [largest] = findIn(rows)!.gaps;
    expect(largest).toEqual({ from: String(19_899 ** 2), to: String(19_900 ** 2) });
  });

  it('is none of a time that is yet to come', () => {
    const minutes = (from: number) =>
      Array.from({ length: 200 }, (_, i) => new Date(NOW + (from + i) * 60_000));
    expect(placeAmong(minutes(-150))).toEqual(new Date(NOW - 100 * 60_000));
    expect(placeAmong(minutes(1))).toBeUndefined();
  });
});

describe('The gaps of a mark', () => {
  it('are a text and back', () => {
    const gaps = [
      { to: '5' },
      { from: '-7', to: '-3', newest: '-1' },
      { from: '9', to: '90071992547409930', newest: '90071992547409931' },
    ];
    expect(gapsOf(textOfGaps(gaps))).toEqual(gaps);
    expect(gapsOf(undefined)).toEqual([]);
    expect(gapsOf('nonsense')).toEqual([]);
  });

  it('are the largest ones, each once', () => {
    const gaps = Array.from({ length: 20 }, (_, i) => ({ from: '100', to: String(110 + i) }));
    expect(largestGaps([...gaps, ...gaps, { to: '3' }]).map(({ to }) => to)).toEqual([
      '3',
      '129',
      '128',
      '127',
      '126',
      '125',
      '124',
      '123',
    ]);
  });

  it('are as they are noted last', () => {
    expect(withGaps('1:5@9 6:8@9', [{ from: '1', to: '5' }])).toBe('1:5 6:8@9');
  });

  it('have what is between their rows', () => {
    const gaps = [{ to: '-5' }, { from: '10', to: '9007199254740993' }];
    for (const id of ['-6', '-9'.repeat(1), '11', '9007199254740992']) expect(isInGap(gaps, id)).toBe(true);
    for (const id of ['-5', '0', '10', '9007199254740993', '9'.repeat(1000)])
      expect(isInGap(gaps, id)).toBe(false);
  });
});

describe('The time of a mark', () => {
  const ms = Date.parse('2026-01-31T12:00:00.123Z');
  it.each<[BloomMark, number | undefined]>([
    [new Date(ms), ms],
    ['2026-01-31T12:00:00.123456Z', ms],
    ['2026-01-31 12:00:00.123+00', ms],
    ['2026-01-31T12:00:00.123000', ms - 14 * 3_600_000],
    ['019c13e1-6cbb-7000-8000-000000000000', Number.parseInt('019c13e16cbb', 16)],
    ['019C13E1-6CBB-7FFF-BFFF-FFFFFFFFFFFF', Number.parseInt('019c13e16cbb', 16)],
    ['01ARZ3NDEKTSV4RRFFQ69G5FAV', 1469922850259],
    ['507f1f77bcf86cd799439011', 0x507f1f77 * 1000],
    ['f47ac10b-58cc-4372-a567-0e02b2c3d479', undefined],
    ['zzzz', undefined],
    ['2026-99-99T99:99:99', undefined],
    [2_147_483_647, undefined],
    [9n ** 19n, undefined],
  ])('of %p is %p', (mark, time) => {
    expect(timeOf(mark)).toBe(time);
  });
});

describe('The first place of a mark', () => {
  const isDigits = (mark: BloomMark) => typeof mark === 'string' && /^-?\d+$/.test(mark);
  const isAfter = (one: BloomMark, other: BloomMark) =>
    isDigits(one) ? BigInt(one as string) > BigInt(other as string) : one > other;

  /** A source of rows with these marks. */
  function sourceOf(
    marks: readonly BloomMark[],
    { leavesOut = true, asBatch = false } = {},
  ): { source: BloomIdSource; reads: () => number } {
    let read = 0;
    const source: BloomIdSource = {
      async *ids() {},
      async *idsSince(mark) {
        for (const one of marks.filter((other) => mark === undefined || isAfter(other, mark))) {
          read++;
          const id = one as string | number | bigint;
          yield asBatch ? [id] : id;
        }
      },
      newest: async (others = 0) => marks.at(-1 - (leavesOut ? others : 0)),
    };
    return { source, reads: () => read };
  }
  const placedBy = (source: BloomIdSource, ordered = true) =>
    firstPlace(source, { settings: { ordered, order: undefined }, wallMs: NOW });
  const place = async (source: BloomIdSource, ordered = true) => (await placedBy(source, ordered))?.mark;
  const rows = Array.from({ length: 1000 }, (_, i) => 7 * i);

  it.each([
    [0, undefined],
    [1, undefined],
    [2, 0],
    [10, 28],
    [1000, 6293],
  ])('is before the last rows: of %d rows, %p', async (count, found) => {
    expect(await place(sourceOf(rows.slice(0, count)).source)).toBe(found);
  });

  it('comes with the largest gaps before it, also before the first of few rows', async () => {
    const block = Array.from({ length: 300 }, (_, i) => 1e9 + i);
    expect((await placedBy(sourceOf([...rows, ...block]).source))!.gaps.slice(0, 2)).toEqual([
      { to: '0' },
      { from: '6993', to: '1000000000' },
    ]);
    const many = Array.from({ length: 30_000 }, (_, i) => i);
    const { source, reads } = sourceOf([...many, ...block]);
    expect(await placedBy(source)).toEqual({ mark: 1e9 + 199, gaps: [{ from: '29999', to: '1000000000' }] });
    expect(reads()).toBe(10_000);
  });

  it('is what newest() gives, where the order is another one', async () => {
    const { source, reads } = sourceOf(rows);
    expect(await placedBy(source, false)).toEqual({ mark: 6293, gaps: [] });
    expect(await place(sourceOf(rows.slice(0, 10)).source, false)).toBe(21);
    expect(await place(sourceOf(rows.slice(0, 1)).source, false)).toBeUndefined();
    expect(reads()).toBe(0);
  });

  it('is before those of a time that is yet to come, however many', async () => {
    const all = Array.from({ length: 3000 }, (_, i) => new Date(NOW + (i - 1500) * 60_000));
    expect(((await place(sourceOf(all).source, false)) as Date).getTime()).toBeLessThanOrEqual(NOW);
    expect(await place(sourceOf(all.slice(1600)).source, false)).toBeUndefined();
  });

  describe.each([false, true])('where newest() leaves out no rows, in batches: %p', (asBatch) => {
    const options = { leavesOut: false, asBatch };
    it.each<[string, (value: number) => string | number | bigint]>([
      ['numbers', Number],
      ['bigints', BigInt],
      ['texts of digits', (value) => String(10_000 + value)],
    ])('is found among %s by reading', async (_, form) => {
      const { source, reads } = sourceOf([...rows.map(form), form(2_147_483_647)], options);
      expect(await place(source)).toBe(form(6300));
      expect(reads()).toBeLessThan(100_000);
    });

    it('is found among few', async () => {
      expect(await place(sourceOf([1, 2, 3, 4, 1e15], options).source)).toBe(2);
      expect(await place(sourceOf(['a', 'b', 'z'], options).source)).toBe('a');
      expect(await place(sourceOf([1e15], options).source)).toBeUndefined();
    });

    it('is the last one where ids are texts, or the order is another one', async () => {
      const texts = rows.map((value) => `sku-${10_000 + value}`);
      expect(await place(sourceOf(texts, options).source)).toBe('sku-16993');
      expect(await place(sourceOf(rows, options).source, false)).toBe(6993);
    });
  });
});
