import { describe, expect, it } from '@jest/globals';
import { BlockedFilter, createGeneration, partCapacity, partOf, planFilter } from '../../src/filter/index.js';

const COUNTS = [2, 3, 16, 1000, 1024];

describe('The part that an id is in', () => {
  // HalfSipHash-1-3 under the key 'nestjs-b', by the reference implementation. Stored filters rest on these
  // numbers.
  it.each<[id: string | Uint8Array, parts: number[]]>([
    ['1', [1, 2, 11, 732, 750]],
    ['42', [1, 2, 15, 975, 999]],
    ['product-1', [1, 1, 9, 610, 625]],
    ['é', [0, 0, 2, 181, 185]],
    ['🙂', [0, 0, 1, 70, 71]],
    [new Uint8Array([0, 1, 2, 255]), [0, 0, 5, 312, 320]],
    ['x'.repeat(1024), [1, 2, 11, 728, 745]],
    [`${'é'.repeat(600)}abc`, [1, 1, 8, 531, 544]],
  ])('never changes: %p', (id, parts) => {
    expect(COUNTS.map((count) => partOf(id, count))).toEqual(parts);
    const bytes = typeof id === 'string' ? new TextEncoder().encode(id) : id;
    expect(COUNTS.map((count) => partOf(bytes, count))).toEqual(parts);
  });

  it.each([341, 342, 1022, 1023, 1024, 1025, 5000])(
    'is one for a text of %p characters and for its bytes',
    (length) => {
      for (const character of ['x', 'é', '€', '🙂', '\ud83d']) {
        const id = `${'a'.repeat(length)}${character.repeat(3)}`;
        expect(partOf(Buffer.from(id), 1024)).toBe(partOf(id, 1024));
      }
    },
  );

  it('depends on the first 1,024 bytes of an id alone, so that a long one takes no longer', () => {
    const long = 'x'.repeat(1024);
    expect(partOf(`${long}a`, 1024)).toBe(partOf(long, 1024));
    expect(partOf(`${'x'.repeat(1023)}a`, 1024)).not.toBe(partOf(long, 1024));
  });

  it('does not depend on the block and the bits within the part, so that parts keep the error rate', () => {
    const plan = planFilter({ capacity: 20_000, errorRate: 0.01 });
    const filter = new BlockedFilter(createGeneration(plan));
    const ofPart = (prefix: string, count: number) => {
      const ids: string[] = [];
      for (let i = 0; ids.length < count; i++)
        if (partOf(`${prefix}${i}`, 16) === 3) ids.push(`${prefix}${i}`);
      return ids;
    };
    for (const id of ofPart('there-', 20_000)) filter.addKey(id);
    const passed = ofPart('absent-', 40_000).filter((id) => filter.mightContain(id)).length;
    // 400 expected, with a standard deviation of 20.
    expect(passed).toBeGreaterThan(260);
    expect(passed).toBeLessThan(540);
  });
});

describe('The capacity of a part', () => {
  it.each([
    [1, 16, 1],
    [1000, 16, 113],
    [1_000_000, 16, 63_900],
    [1_000_000_000, 1024, 982_932],
  ])('of %p ids in %p parts is %p', (capacity, parts, expected) => {
    expect(partCapacity(capacity, parts)).toBe(expected);
  });

  it.each([2, 16, 128])('has room for the ids that the hash deals to any of %p parts', (parts) => {
    for (const capacity of [10, 1000, 100_000]) {
      const counts = Array.from({ length: parts }, () => 0);
      for (let i = 0; i < capacity; i++) counts[partOf(`id-${i}`, parts)]!++;
      expect(Math.max(...counts)).toBeLessThanOrEqual(partCapacity(capacity, parts));
    }
  });
});
