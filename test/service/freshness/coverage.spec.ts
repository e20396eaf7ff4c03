import { describe, expect, it } from '@jest/globals';
import type { BloomIdSource } from '../../../src/rebuild/index.js';
import { IdKeys } from '../../../src/service/index.js';
import { Coverage } from '../../../src/service/freshness/coverage.js';
import {
  type BloomTopUpOptions,
  topUpSettings,
  type TopUpSettings,
} from '../../../src/service/freshness/top-up-options.js';
import type { MarkEntries, LookupOutcome } from '../../../src/store/index.js';

/** A filter that has nothing, and answers when it is told to. */
const EMPTY = { checkOne: (): LookupOutcome => 'absent', check: async () => ['absent' as const] };

function settingsOf(topUp: BloomTopUpOptions): TopUpSettings {
  const source: BloomIdSource = {
    ids: async function* () {},
    idsSince: async function* () {},
    idOrder: 'integer',
  };
  return topUpSettings({ topUp, source, normalize: undefined, drainMs: 0 })!;
}

function coverageOf(
  mark: string | undefined,
  { order, ...topUp }: BloomTopUpOptions & Partial<Pick<TopUpSettings, 'order'>> = {},
) {
  let beyond = 0;
  const coverage = new Coverage({
    settings: { ...settingsOf(topUp), order },
    keys: new IdKeys({ name: 'products', normalize: undefined, maxIdBytes: 64 }),
    maxIdBytes: 64,
    onBeyond: (ids) => (beyond += ids),
    outlivesStore: true,
  });
  const hear = (text: string | undefined, ageMs = 0, others: MarkEntries = { newest: text }) =>
    coverage.update({ entries: { mark: text, ...others }, ageMs });
  hear(mark);
  return { coverage, hear, beyond: () => beyond, check: (id: string) => coverage.checkOne(EMPTY, id) };
}

describe('The coverage of a filter', () => {
  it('is nothing without a mark', async () => {
    const { check, coverage, beyond } = coverageOf(undefined);
    expect(check('0')).toBe('beyond');
    expect(await coverage.check(EMPTY, ['0'])).toEqual(['unknown']);
    expect(beyond()).toBe(2);
  });

  it.each(['', 'number:abc', 'number:1e3', 'date:2024-01-01T00:00:00.000Z', 'object:1', '10'])(
    'is nothing with the mark %p',
    (mark) => {
      expect(coverageOf(mark).check('0')).toBe('beyond');
    },
  );

  it('is all integers up to the mark, whatever their size', () => {
    const { check } = coverageOf('bigint:9007199254740992');
    expect(check('9007199254740992')).toBe('absent');
    expect(check('-9007199254740993')).toBe('absent');
    expect(check('9007199254740993')).toBe('beyond');
    expect(check('09007199254740993')).toBe('beyond');
  });

  it('is what is no integer where ids are integers for certain, and not where they may be texts', () => {
    for (const mark of ['number:10', 'bigint:10']) expect(coverageOf(mark).check('abc')).toBe('absent');
    expect(coverageOf('string:10').check('abc')).toBe('beyond');
    expect(coverageOf('string:10', { order: 'integer' }).check('abc')).toBe('absent');
  });

  it('has no gaps of integers where the order is that of texts, as when it has become that', async () => {
    const { coverage, hear, check } = coverageOf('string:b');
    hear('string:b', 0, { gaps: ':5 7:12' });
    expect(['a', '4', '8'].map(check)).toEqual(['absent', 'absent', 'absent']);
    expect(await coverage.check(EMPTY, ['a'])).toEqual(['absent']);
  });

  it('goes by code points where the order is that of texts', () => {
    const { check } = coverageOf('string:10', { order: 'text' });
    expect(check('9')).toBe('beyond');
    expect(check('0999')).toBe('absent');
    const ulids = coverageOf('string:01HQ3V4T5Z0000000000000000');
    expect(ulids.check('01HQ3V4T5YZZZZZZZZZZZZZZZZ')).toBe('absent');
    expect(ulids.check('01HQ3V4T5Z0000000000000001')).toBe('beyond');
    expect(ulids.check('01hq3v4t5yzzzzzzzzzzzzzzzz')).toBe('beyond');
  });

  it('has bytes and ids that are too long as the filter says, or not at all', () => {
    const { coverage } = coverageOf('number:10');
    expect(coverage.isBeyond('9'.repeat(65))).toBe(false);
    expect(coverageOf('string:a').coverage.isBeyond(new Uint8Array([1]))).toBe(true);
  });

  it('never changes what is not absent', () => {
    const { coverage } = coverageOf(undefined);
    for (const outcome of ['maybe', 'timeout', 'lost'] as const)
      expect(coverage.checkOne({ ...EMPTY, checkOne: () => outcome }, '99')).toBe(outcome);
  });

  it('is that of the moment before the filter was asked: an id may be added, and the mark pass it, meanwhile', async () => {
    const { coverage, hear } = coverageOf('number:10');
    let answer: (outcome: LookupOutcome) => void = () => {};
    const asked = new Promise<LookupOutcome>((resolve) => (answer = resolve));
    const one = coverage.checkOne({ ...EMPTY, checkOne: () => asked }, '11');
    const many = coverage.check({ ...EMPTY, check: async () => [(await asked) as 'absent'] }, ['11']);
    hear('number:11');
    answer('absent');
    expect(await one).toBe('beyond');
    expect(await many).toEqual(['unknown']);
  });

  it('moves back when the mark does', () => {
    const { check, hear } = coverageOf('number:10');
    hear('number:5');
    expect(check('6')).toBe('beyond');
  });

  it('is nothing when the mark was given up, and stays when the store has lost it', () => {
    const { check, hear } = coverageOf('number:10');
    hear(undefined, Infinity, {});
    expect([check('10'), check('11')]).toEqual(['absent', 'beyond']);
    hear(undefined, 0, { newest: 'number:10' });
    expect(check('1')).toBe('beyond');
  });

  it('gives a copy what is covered when its blocks are read, until the mark is given up or moves back', () => {
    const { coverage, hear } = coverageOf(undefined);
    expect(coverage.ofCopy()).toBeUndefined();
    hear('number:10', 0, { gaps: '3:5' });
    const covers = coverage.ofCopy()!;
    const read = () => ['4', '10', '11', 'abc'].map((id) => !covers.era.isOver && covers.holds(id));
    expect(read()).toEqual([false, true, false, false]);
    hear('number:20', 0, {});
    hear(undefined, Infinity, {});
    expect(read()).toEqual([false, true, false, false]);
    hear('number:19');
    hear('number:21');
    expect(read()).toEqual([false, false, false, false]);
    expect(coverage.ofCopy()!.era.isOver).toBe(false);
    expect(coverage.ofCopy()!.holds('21')).toBe(true);
  });

  it('refuses what is further than the slack, while what is known is fresh', () => {
    const { check, hear } = coverageOf('number:10', { beyond: 'absent', slack: 100 });
    expect(check('110')).toBe('beyond');
    expect(check('111')).toBe('absent');
    hear('number:10', 5000);
    expect(check('111')).toBe('beyond');
    hear('string:ulid', 0);
    expect(check('zzz')).toBe('beyond');
    hear('number:10', 0, {});
    expect(check('111')).toBe('beyond');
  });

  it('is nothing while the mark is doubted', () => {
    const { check, hear } = coverageOf('number:10');
    hear('number:10', 0, { doubt: 'Rows are missing.' });
    expect([check('1'), check('11')]).toEqual(['beyond', 'beyond']);
    hear('number:10');
    expect(check('1')).toBe('absent');
  });
});
