import assert from 'node:assert/strict';

/**
 * Assertions that need no test runner.
 *
 * @throws {AssertionError} in each method, when it does not hold.
 */
export function expect(actual: unknown) {
  return {
    toBe: (expected: unknown) => assert.equal(actual, expected),
    toEqual: (expected: unknown) => assert.deepEqual(actual, expected),
    /** Compares the named properties alone. */
    toMatchObject: (expected: object) => assert.deepEqual(pick(actual as object, expected), expected),
    toBeUndefined: () => assert.equal(actual, undefined),
    toBeInstanceOf: (Class: new (...args: never[]) => object) =>
      assert.ok(actual instanceof Class, `expected a ${Class.name}, got ${String(actual)}`),
    toHaveLength: (length: number) => assert.equal((actual as readonly unknown[]).length, length),
    toBeLessThan: (limit: number) => compare(actual, '<', limit, Number(actual) < limit),
    toBeLessThanOrEqual: (limit: number) => compare(actual, '<=', limit, Number(actual) <= limit),
    toBeGreaterThan: (limit: number) => compare(actual, '>', limit, Number(actual) > limit),
    toBeGreaterThanOrEqual: (limit: number) => compare(actual, '>=', limit, Number(actual) >= limit),
    not: {
      toContain: (item: unknown) =>
        assert.ok(!(actual as readonly unknown[]).includes(item), `${String(item)} is there`),
    },
    rejects: {
      toBe: (error: unknown) => assert.rejects(actual as Promise<unknown>, (got) => got === error),
      toThrow: (Class: new (...args: never[]) => Error) =>
        assert.rejects(actual as Promise<unknown>, (got) => got instanceof Class),
    },
  };
}

function pick(actual: object, named: object): object {
  return Object.fromEntries(
    Object.entries(named).map(([name, expected]) => {
      const value = (actual as Record<string, unknown>)[name];
      const isPart =
        Object.getPrototypeOf(expected ?? 0) === Object.prototype && typeof value === 'object' && value;
      return [name, isPart ? pick(value, expected as object) : value];
    }),
  );
}

function compare(actual: unknown, sign: string, limit: number, holds: boolean): void {
  assert.ok(holds, `expected a number ${sign} ${limit}, got ${String(actual)}`);
}
