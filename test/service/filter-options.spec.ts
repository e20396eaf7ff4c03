import { describe, expect, it } from '@jest/globals';
import { BloomConfigError } from '../../src/common/index.js';
import { integer, lowerCase, nfc, objectId, padded, uuid } from '../../src/filter/index.js';
import { type BloomFilterOptions, defineFilter } from '../../src/service/index.js';

const source = { async *ids() {} };

describe('The options of a filter', () => {
  it('have their defaults in one place', () => {
    expect(defineFilter({ name: 'products', capacity: 1000 })).toMatchObject({
      errorRate: 0.001,
      maxIdBytes: 1024,
      onBoot: 'if-missing',
      drainMs: 10_000,
      minRatio: 0.5,
      leaseMs: 30_000,
      stallMs: 300_000,
    });
  });

  it.each<[string, Partial<Record<keyof BloomFilterOptions, unknown>>, RegExp]>([
    ['a name with a brace', { name: 'a{b}' }, /expected name to be a name of letters/],
    ['no name', { name: undefined }, /expected name/],
    [
      'an owner that is too long',
      { owner: 'x'.repeat(215) },
      /expected owner to be the name of an application/,
    ],
    ['no capacity', { capacity: undefined }, /Expected capacity to be a positive integer.*got undefined/],
    ['a capacity of 0', { capacity: 0 }, /Expected capacity to be a positive integer.*got 0/],
    ['a capacity beyond the largest filter', { capacity: 10 ** 12 }, /the limit is \d+/],
    ['an error rate in per cent', { errorRate: 1 }, /Expected errorRate to be from .* got 1/],
    ['an error rate of NaN', { errorRate: NaN }, /got NaN/],
    ['a source without ids()', { source: {} }, /expected source to be an object with a method ids\(\)/],
    [
      'a normalize that is no function',
      { normalize: 'upper' },
      /expected normalize to be a function, or one of 'uuid', 'lowercase', .* got 'upper'/,
    ],
    ['a maxIdBytes of 0', { maxIdBytes: 0 }, /expected maxIdBytes to be an integer from 1/],
    [
      'an audit of 200 %',
      { audit: { sampleRate: 2 } },
      /expected audit.sampleRate to be a share from 0 to 1, got 2/,
    ],
    [
      'cron and everyMs',
      { source, rebuild: { cron: '* * * * *', everyMs: 5 } },
      /either cron or everyMs, not both/,
    ],
    [
      'a schedule without a source',
      { rebuild: { cron: '* * * * *' } },
      /expected source to be a source, since a schedule/,
    ],
    [
      'an everyMs that a timer cannot wait',
      { source, rebuild: { everyMs: 2 ** 31 } },
      /expected rebuild.everyMs/,
    ],
    [
      'an unknown onBoot',
      { source, rebuild: { onBoot: 'sometimes' } },
      /expected rebuild.onBoot to be 'if-missing'/,
    ],
    ['a negative drain', { source, rebuild: { drainMs: -1 } }, /expected rebuild.drainMs/],
    ['no memory', { source, rebuild: { memoryMiB: 0 } }, /expected rebuild.memoryMiB .*got 0/],
    ['more memory than a filter', { source, rebuild: { memoryMiB: 4097 } }, /expected rebuild.memoryMiB/],
    ['half a MiB', { source, rebuild: { memoryMiB: 0.5 } }, /expected rebuild.memoryMiB/],
    [
      'memory that is no number',
      { source, rebuild: { memoryMiB: '64' as never } },
      /expected rebuild.memoryMiB/,
    ],
    [
      'a minRatio in per cent',
      { source, rebuild: { minRatio: 50 } },
      /expected rebuild.minRatio to be a share from 0 to 1, got 50/,
    ],
    ['null in place of a default', { rebuild: { drainMs: null } }, /rebuild.drainMs to be .*, got null/],
    ['a share that is a text', { source, rebuild: { minRatio: '1' } }, /a share from 0 to 1, got '1'/],
    ['an audit without a share', { audit: {} }, /expected audit.sampleRate to be .*, got undefined/],
    ['a negative cache that is a text', { negativeCache: 'on' }, /to be { lifeMs, .* false, got 'on'/],
    [
      'no time for the source',
      { source, rebuild: { stallMs: 0 } },
      /expected rebuild.stallMs to be a number/,
    ],
    [
      'more shared denials than the server makes at once',
      { negativeCache: { shared: true, maxIds: 100_001 } },
      /expected negativeCache.maxIds to be a number of ids up to 100000, got 100001/,
    ],
    [
      'a lease that ends at once',
      { source, rebuild: { leaseMs: 1 } },
      /expected rebuild.leaseMs to be at least 100/,
    ],
  ])('are refused at start: %s', (_, options, message) => {
    const define = () => defineFilter({ name: 'products', capacity: 1000, ...options } as BloomFilterOptions);
    expect(define).toThrow(BloomConfigError);
    expect(define).toThrow(message);
    expect(define).toThrow(/Filter '/);
  });
});

describe('normalize', () => {
  it('may be the name of a function of this package', () => {
    const of = (normalize: BloomFilterOptions['normalize']) =>
      defineFilter({ name: 'products', capacity: 10, ...(normalize && { normalize }) }).normalize;
    expect([of('uuid'), of('lowercase'), of('integer'), of('nfc'), of('padded'), of('objectId')]).toEqual([
      uuid,
      lowerCase,
      integer,
      nfc,
      padded,
      objectId,
    ]);
    expect(of(nfc)).toBe(nfc);
    expect(() => of('toString' as never)).toThrow(/expected normalize to be a function, or one of/);
  });
});
