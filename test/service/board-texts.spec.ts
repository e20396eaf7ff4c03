import { describe, expect, it } from '@jest/globals';
import { emptyMetrics } from '../../src/service/filter-info.js';
import { instanceOf, recordOf, runOf, textOfInstance } from '../../src/service/instances.js';
import { newIdentity } from '../../src/service/index.js';
import type { BloomFilterMetrics } from 'nestjs-bloom';

const IDENTITY = newIdentity();
const EMPTY = emptyMetrics('products');

const methods = (count: number, length: number): BloomFilterMetrics['methods'] =>
  Array.from({ length: count }, (_, i) => ({
    method: `Shop.${'x'.repeat(length)}${i}`,
    absent: i,
    maybe: 0,
    unknown: EMPTY.lookups.unknown,
    remembered: 0,
    saved: 0,
    foundNothing: 0,
  }));

const read = (text: string) => instanceOf('products', { id: 'one', seenAt: 1000, text });

describe('The report of a process', () => {
  it('is read as it was written', () => {
    const metrics: BloomFilterMetrics = {
      ...EMPTY,
      mode: 'shadow',
      methods: methods(3, 10),
      rebuild: { ...EMPTY.rebuild, nextRunAt: new Date(5000) },
      latencyMs: { ...EMPTY.latencyMs, local: { bounds: [1], counts: [2, 3], sum: 4 } },
      advice: ['Do something.'],
      outside: {
        isFollowing: true,
        topUp: { readings: 1, added: 2, failures: 3 },
        feed: { isRunning: true, behindBytes: 4, added: 5, failures: 6, gaps: 7 },
      },
    };
    expect(read(textOfInstance(IDENTITY, metrics))).toEqual({
      ...IDENTITY,
      id: 'one',
      seenAt: new Date(1000),
      metrics,
    });
  });

  it.each([
    [20, 30, 20],
    [70, 100, 20],
    [500, 200, 20],
    [500, 2000, 0],
  ])('has 16 KiB at most, of %s methods with names of %s characters', (count, length, kept) => {
    const advice = Array.from({ length: 50 }, () => 'é'.repeat(1000));
    const text = textOfInstance(IDENTITY, { ...EMPTY, methods: methods(count, length), advice });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16_384);
    const found = read(text)!.metrics.methods;
    expect(found).toHaveLength(kept);
    // The busiest ones.
    if (kept < count) for (const { absent } of found) expect(absent).toBeGreaterThanOrEqual(count - kept);
  });

  it('of another version is filled up with nothing seen', () => {
    const metrics = { filter: 7, saved: 12, lookups: { local: 5, more: 1 }, methods: {}, later: [1] };
    const text = JSON.stringify({ host: 'api', pid: 1, startedAt: 2, metrics });
    expect(read(text)!.metrics).toEqual({
      ...EMPTY,
      saved: 12,
      lookups: { ...EMPTY.lookups, local: 5, more: 1 },
      later: [1],
    });
  });

  it.each(['', 'null', '[]', '{', '{"metrics":1}', '7'])('is none where the text is %s', (text) => {
    expect(read(text)).toBeUndefined();
    expect(recordOf(text)).toBeUndefined();
    expect(text.startsWith('{"') ? undefined : runOf(text)).toBeUndefined();
  });
});
