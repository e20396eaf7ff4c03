import { describe, expect, it } from '@jest/globals';
import { type AttackChange, AttackRule } from '../../src/service/attack-rule.js';
import { DAYS, type Flood, readings, type Traffic } from './support/shop-days.js';

const HOUR = 3_600_000;
const NOON = 12 * HOUR;

function changes(traffic: Traffic): (AttackChange & { readonly at: number })[] {
  const rule = new AttackRule();
  const found: (AttackChange & { readonly at: number })[] = [];
  for (const reading of readings(traffic)) {
    const change = rule.read(reading);
    if (change) found.push({ ...change, at: reading.now });
  }
  return found;
}

describe('Recorded days without an attack', () => {
  it.each([
    { shops: 1, unknownShare: 0.01 },
    { shops: 1, unknownShare: 0.05 },
    { shops: 1, unknownShare: 0.05, isAtOnce: true },
    { shops: 20, unknownShare: 0.05, isAtOnce: true },
    { shops: 200, unknownShare: 0.01 },
    { shops: 200, unknownShare: 0.05 },
    { shops: 200, unknownShare: 0.05, isAtOnce: true },
    { shops: 20, unknownShare: 0.02, crawlerPerSecond: 5 },
    { shops: 20, unknownShare: 0.02, crawlerPerSecond: 20 },
  ])('raise no alarm over four days, from an empty memory on: %j', (traffic) => {
    expect(changes({ days: DAYS, ...traffic })).toEqual([]);
  });

  it.each([0, 8, 9, 12, 16.97, 23.9])('raise none when the process starts at %d o’clock', (hour) => {
    const endMs = (hour + 3) * HOUR;
    for (const unknownShare of [0.01, 0.05]) {
      const traffic = { days: DAYS.slice(1), shops: 200, unknownShare, startMs: hour * HOUR, endMs };
      expect(changes(traffic)).toEqual([]);
    }
  });
});

describe('A recorded day with an attack', () => {
  const floods: (Flood & { readonly at: string })[] = [
    { at: 'night', fromMs: 3 * HOUR + 100, forMs: 60_000, perSecond: 60 },
    { at: 'opening', fromMs: 8 * HOUR + 26_240, forMs: 60_000, perSecond: 200 },
    { at: 'noon', fromMs: NOON + 1, forMs: 60_000, perSecond: 100 },
    { at: 'the fullest minute', fromMs: 14 * HOUR + 41 * 60_000 + 1_111, forMs: 60_000, perSecond: 2_000 },
    { at: 'the end of the day', fromMs: 24 * HOUR - 20_000, forMs: 60_000, perSecond: 3_000 },
    { at: 'the start', fromMs: 0, forMs: 60_000, perSecond: 100 },
    { at: 'waves of a second', fromMs: NOON, forMs: 60_000, perSecond: 500, everyMs: 1_000 },
  ];

  it.each(floods)('is one attack, known within two seconds: $at', (flood) => {
    for (const isAtOnce of [false, true]) {
      const found = changes({ days: DAYS, unknownShare: 0.05, isAtOnce, floods: [flood], endMs: 26 * HOUR });
      expect(found.map(({ type }) => type)).toEqual(['started', 'ended']);
      expect(found[0]!.at - flood.fromMs).toBeLessThanOrEqual(2_000);
      expect(found[0]!.method).toBe('Shop.search');
      expect(found[1]!.at - flood.fromMs - flood.forMs).toBeLessThanOrEqual(32_000);
    }
  });
});
