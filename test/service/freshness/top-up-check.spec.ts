import { describe, expect, it } from '@jest/globals';
import {
  BloomConfigError,
  type BloomFilterOptions,
  type BloomIdSource,
  integer,
  lowerCase,
} from 'nestjs-bloom';
import { defineFilter } from '../../../src/service/index.js';
import { given } from '../../support/given.js';

const INTEGERS: BloomIdSource = {
  ids: async function* () {},
  idsSince: async function* () {},
  idOrder: 'integer',
};
const TEXTS: BloomIdSource = { ...INTEGERS, idOrder: 'text' };
const SKUS: BloomIdSource = { ...INTEGERS, idOrder: { reason: 'products.sku is of type text' } };
const UNKNOWN: BloomIdSource = { ...INTEGERS, idOrder: undefined };
const WITHOUT: BloomIdSource = { ids: async function* () {}, idOrder: 'integer' };

/** Options as they come from outside of TypeScript. */
function define(options: Record<string, unknown>) {
  return defineFilter(
    given({ name: 'f', capacity: 1000, source: INTEGERS, ...options }) as BloomFilterOptions,
  );
}

describe('Coverage', () => {
  it('is on by itself where the source says that ids are made in order', () => {
    const defaults = { everyMs: 1000, overlapMs: 123, ordered: true, slack: undefined };
    for (const source of [INTEGERS, TEXTS]) {
      const { topUp, whyNotCovered } = define({ source, rebuild: { drainMs: 123 } });
      expect(topUp).toEqual({ ...defaults, order: source.idOrder });
      expect(whyNotCovered).toBeUndefined();
    }
    const { topUp } = define({ coverage: 'ordered', topUp: { beyond: 'absent', slack: 0 } });
    expect(topUp).toMatchObject({ ordered: true, slack: 0n });
  });

  it('is off where the source does not say so, and says why', () => {
    const cases: [BloomIdSource, string][] = [
      [SKUS, 'products.sku is of type text'],
      [UNKNOWN, 'its source does not say in which order ids are made (idOrder)'],
      [WITHOUT, 'its source has no idsSince(mark)'],
    ];
    for (const [source, reason] of cases) {
      const definition = define({ source });
      expect([definition.topUp, definition.whyNotCovered]).toEqual([undefined, reason]);
      expect(() => define({ source, coverage: 'ordered' })).toThrow(BloomConfigError);
      expect(() => define({ source, coverage: 'ordered' })).toThrow(`left out, since ${reason}`);
    }
  });

  it('is off where the definition says so, and rows are read all the same with topUp', () => {
    expect(define({ coverage: 'none' }).topUp).toBeUndefined();
    expect(define({ coverage: 'none', topUp: {} }).topUp).toMatchObject({ ordered: false });
    expect(define({ source: SKUS, topUp: {} }).topUp).toMatchObject({ ordered: false, order: undefined });
  });

  it('is refused where normalize changes the order of ids', () => {
    const reversed = (id: unknown) => String(id).split('').reverse().join('');
    const last = (id: unknown) => String(id).at(-1)!;
    for (const source of [INTEGERS, TEXTS]) {
      for (const normalize of [reversed, last]) {
        expect(define({ source, normalize }).topUp).toBeUndefined();
        expect(() => define({ source, normalize, coverage: 'ordered' })).toThrow(
          'normalize changes the order',
        );
      }
    }
    expect(define({ normalize: integer }).topUp?.ordered).toBe(true);
    expect(define({ source: TEXTS, normalize: lowerCase }).topUp?.ordered).toBe(true);
  });

  it('needs an order that there is, and a source', () => {
    expect(() => define({ source: { ...INTEGERS, idOrder: 'date' } })).toThrow(
      /source\.idOrder.*'integer', 'text' or \{ reason \}, got 'date'/,
    );
    expect(() => define({ source: undefined, coverage: 'ordered' })).toThrow(/source.* given with coverage/);
    expect(() => define({ coverage: 'all' })).toThrow(/coverage.*'ordered' or 'none'/);
  });
});

describe('The options of rows that others write', () => {
  it.each<[string, unknown, RegExp]>([
    ['no object', 'often', /topUp/],
    ['null', null, /topUp/],
    ['no time between readings', { everyMs: 0 }, /topUp\.everyMs.* at least 10 milliseconds, got 0/],
    ['a negative time', { everyMs: -1 }, /topUp\.everyMs/],
    ['a time that is none', { everyMs: NaN }, /topUp\.everyMs/],
    ['a text for a time', { everyMs: '1000' }, /topUp\.everyMs/],
    ['a time that no timer can wait', { everyMs: 2 ** 31 }, /topUp\.everyMs/],
    ['a negative overlap', { overlapMs: -1 }, /topUp\.overlapMs/],
    ['an overlap beyond the stall time', { overlapMs: 10 ** 9 }, /topUp\.overlapMs.* rebuild\.stallMs/],
    ['what is coverage now', { ordered: true }, /topUp\.ordered.*coverage: 'ordered' beside topUp/],
    ['what the source says now', { order: 'text' }, /topUp\.order.*idOrder/],
    ['another answer', { beyond: 'maybe' }, /topUp\.beyond.*'unknown' or 'absent'/],
    ['no slack', { beyond: 'absent' }, /topUp\.slack/],
    ['a negative slack', { beyond: 'absent', slack: -1 }, /topUp\.slack/],
    ['a text for a slack', { beyond: 'absent', slack: '10' }, /topUp\.slack/],
    ['a bigint for a slack', { beyond: 'absent', slack: 10n }, /topUp\.slack/],
    ['a slack that refuses nothing', { slack: 10 }, /topUp\.slack.* left out/],
  ])('refuse %s', (_, topUp, message) => {
    expect(() => define({ topUp })).toThrow(BloomConfigError);
    expect(() => define({ topUp })).toThrow(message);
  });

  it('refuse an answer beyond ids that are not covered, or have no distance', () => {
    const topUp = { beyond: 'absent', slack: 1 };
    expect(() => define({ topUp, coverage: 'none' })).toThrow(/coverage.*'ordered' with topUp\.beyond/);
    expect(() => define({ topUp, source: SKUS })).toThrow(/topUp\.beyond.* left out, since products\.sku/);
    expect(() => define({ topUp, source: TEXTS })).toThrow(/topUp\.beyond.* no distance/);
  });

  it('refuse a source that cannot give what is new, and none', () => {
    for (const source of [WITHOUT, undefined])
      expect(() => define({ topUp: {}, source })).toThrow(/source.* idsSince\(mark\)/);
  });

  it('refuse what is no feed, and a feed without a source', () => {
    for (const feed of [null, 'feed', {}, { follow: true }])
      expect(() => define({ feed })).toThrow(/feed.* follow\(context\)/);
    expect(() => define({ feed: { follow: async () => {} }, source: undefined })).toThrow(/source/);
  });
});
