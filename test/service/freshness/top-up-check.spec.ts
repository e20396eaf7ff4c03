import { describe, expect, it } from '@jest/globals';
import { BloomConfigError, type BloomFilterOptions, type BloomIdSource } from 'nestjs-bloom';
import { defineFilter } from '../../../src/service/index.js';
import { given } from '../../support/given.js';

const SOURCE: BloomIdSource = { ids: async function* () {}, idsSince: async function* () {} };

/** Options as they come from outside of TypeScript. */
function define(options: Record<string, unknown>) {
  return defineFilter(given({ name: 'f', capacity: 1000, source: SOURCE, ...options }) as BloomFilterOptions);
}

describe('The options of rows that others write', () => {
  it('have defaults', () => {
    const { topUp } = define({ topUp: {}, rebuild: { drainMs: 123 } });
    expect(topUp).toMatchObject({ everyMs: 1000, overlapMs: 123, ordered: false, slack: undefined });
  });

  it('take integers of any order, with a slack', () => {
    const { topUp } = define({ topUp: { ordered: true, beyond: 'absent', slack: 0 } });
    expect(topUp).toMatchObject({ ordered: true, slack: 0n });
  });

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
    ['a text for ordered', { ordered: 'yes' }, /topUp\.ordered/],
    ['another order', { ordered: true, order: 'date' }, /topUp\.order.*'integer' or 'text'/],
    ['another answer', { ordered: true, beyond: 'maybe' }, /topUp\.beyond.*'unknown' or 'absent'/],
    [
      'an answer beyond ids in no order',
      { beyond: 'absent', slack: 1 },
      /topUp\.ordered.* true with topUp\.beyond/,
    ],
    ['no slack', { ordered: true, beyond: 'absent' }, /topUp\.slack/],
    ['a negative slack', { ordered: true, beyond: 'absent', slack: -1 }, /topUp\.slack/],
    ['a text for a slack', { ordered: true, beyond: 'absent', slack: '10' }, /topUp\.slack/],
    ['a bigint for a slack', { ordered: true, beyond: 'absent', slack: 10n }, /topUp\.slack/],
    ['a slack that refuses nothing', { ordered: true, slack: 10 }, /topUp\.slack.* left out/],
    ['a slack among texts', { ordered: true, order: 'text', beyond: 'absent', slack: 1 }, /topUp\.order/],
  ])('refuse %s', (_, topUp, message) => {
    expect(() => define({ topUp })).toThrow(BloomConfigError);
    expect(() => define({ topUp })).toThrow(message);
  });

  it('refuse a source without an order, and none', () => {
    const source: BloomIdSource = { ids: async function* () {} };
    for (const topUp of [{}, { ordered: true }]) {
      expect(() => define({ topUp, source })).toThrow(/source.* idsSince\(mark\)/);
      expect(() => define({ topUp, source: undefined })).toThrow(/source.* idsSince\(mark\)/);
    }
  });

  it('refuse what is no feed, and a feed without a source', () => {
    for (const feed of [null, 'feed', {}, { follow: true }])
      expect(() => define({ feed })).toThrow(/feed.* follow\(context\)/);
    expect(() => define({ feed: { follow: async () => {} }, source: undefined })).toThrow(/source/);
  });
});
