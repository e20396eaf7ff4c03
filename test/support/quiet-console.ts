import { afterAll, expect } from '@jest/globals';

// Clients and frameworks warn on the console of what a test has forgotten: an error without a listener, a
// check that a user may not make.
const warnings: string[] = [];
for (const method of ['warn', 'error'] as const) {
  console[method] = (...words: unknown[]) => void warnings.push(`console.${method}: ${words.join(' ')}`);
}

afterAll(() => {
  expect(warnings).toEqual([]);
});
