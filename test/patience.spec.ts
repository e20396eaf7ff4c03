import { expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The argument of each call that begins so, by its brackets. */
function argumentsOf(source: string, call: string): string[] {
  const found: string[] = [];
  for (let at = source.indexOf(call); at >= 0; at = source.indexOf(call, at + 1)) {
    let depth = 0;
    const from = at + call.length - 1;
    for (let i = from; i < source.length; i++) {
      if (source[i] === '(') depth++;
      if (source[i] === ')' && --depth === 0) {
        found.push(source.slice(from, i));
        break;
      }
    }
  }
  return found;
}

// On a machine that is busy a lookup misses the 25 ms of the default, and the verdict of a test is "unknown".
it('Every application of a test that is on a Redis server sets its deadlines', () => {
  const hasty = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    // Code that documents complete is compiled, and never started.
    .filter((path) => path.endsWith('.ts') && path !== 'patience.spec.ts' && !path.startsWith('docs/given'))
    .flatMap((path) =>
      argumentsOf(readFileSync(join(import.meta.dirname, path), 'utf8'), 'BloomModule.forRoot(')
        .filter((text) => /\bredis(: |,| \})/.test(text) && !/redis:\/\/127\.0\.0\.1:1'/.test(text))
        .filter((text) => !/PATIENT|timeoutMs|\.\.\.timeouts/.test(text))
        .map((text) => `${path}: ${text.replace(/\s+/g, ' ')}`),
    );
  expect(hasty).toEqual([]);
});
