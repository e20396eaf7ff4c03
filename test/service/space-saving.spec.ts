import { describe, expect, it } from '@jest/globals';
import { SpaceSaving } from '../../src/service/client-counts.js';
import { Random, SEED } from '../support/random.js';

/** Keys as clients ask: a few often, most seldom. */
function stream(length: number, keys: number): string[] {
  const random = new Random(SEED);
  return Array.from({ length }, () => `client-${Math.floor(keys * (random.uint32() / 2 ** 32) ** 12)}`);
}

function counted(keys: readonly string[], maxKeys: number) {
  const table = new SpaceSaving(maxKeys);
  const exact = new Map<string, number>();
  for (const key of keys) {
    table.count(key);
    exact.set(key, (exact.get(key) ?? 0) + 1);
  }
  return { table, exact, all: [...table.all()] };
}

describe(`SpaceSaving (seed ${SEED})`, () => {
  it('is exact while there is room', () => {
    const { all, exact } = counted(stream(5_000, 100), 100);
    expect(new Map(all.map(({ key, count }) => [key, count]))).toEqual(exact);
    expect(all.every(({ error }) => error === 0)).toBe(true);
  });

  it.each([10, 100, 1_000])('with %d keys keeps the bounds of Metwally et al.', (maxKeys) => {
    const keys = stream(100_000, 20_000);
    const { table, all, exact } = counted(keys, maxKeys);
    expect(all).toHaveLength(maxKeys);
    expect(all.reduce((sum, { count }) => sum + count, 0)).toBe(keys.length);
    for (const { key, count, error } of all) {
      expect(count).toBeGreaterThanOrEqual(exact.get(key)!);
      expect(count - error).toBeLessThanOrEqual(exact.get(key)!);
      expect(error).toBeLessThanOrEqual(keys.length / maxKeys);
      expect(table.owedBy(key, 'rule')).toBe(count - error);
    }
    const kept = new Set(all.map(({ key }) => key));
    const frequent = [...exact].filter(([, count]) => count > keys.length / maxKeys);
    expect(frequent.length).toBeGreaterThan(0);
    expect(frequent.filter(([key]) => !kept.has(key))).toEqual([]);
  });

  it('keeps a frequent key among any number of others, and charges none of them for it', () => {
    const table = new SpaceSaving(100);
    for (let i = 0; i < 100_000; i++) {
      table.count(`other-${i}`);
      if (i % 10 === 0) table.count('frequent');
    }
    expect([...table.all()]).toHaveLength(100);
    expect(table.owedBy('frequent', 'rule')).toBeGreaterThan(9_000);
    expect(
      Math.max(
        ...[...table.all()]
          .filter(({ key }) => key !== 'frequent')
          .map(({ key }) => table.owedBy(key, 'rule')),
      ),
    ).toBe(1);
  });

  it('forgets what is settled, and counts on', () => {
    const table = new SpaceSaving(2);
    for (let i = 0; i < 5; i++) table.count('a');
    table.settle('a', 'rule');
    table.settle('unknown', 'rule');
    expect(table.owedBy('a', 'rule')).toBe(0);
    table.count('a');
    expect([table.owedBy('a', 'rule'), [...table.all()][0]!.count]).toEqual([1, 6]);
    expect(table.owedBy('a', 'another')).toBe(6);
  });
});
