import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const TRANSLATED = 'docs/README.zh-CN.md';
const MOST_LINES = 180;
const MOST_WORDS = 1_200;
const FENCES = /^```[^]*?^```$/gm;
const QUOTE = /^> \*\*[^]*?\n(?!>)/m;

const readme = readFileSync('README.md', 'utf8');

/** The promise of a page, as text without links, in one line. */
function promiseOf(page: string): string | undefined {
  const quote = QUOTE.exec(readFileSync(page, 'utf8'))?.[0];
  return quote?.replace(/\]\([^)]*\)/g, ']').replaceAll(/\s*\n(> )?/g, ' ');
}

/** Where the links of a page to others lead, without those from README to its translation and back. */
function linksOf(page: string): string[] {
  const targets = [...readFileSync(page, 'utf8').matchAll(/\]\(([^#)][^)]*)\)/g)].map(
    ([, target]) => target!,
  );
  return targets
    .map((target) => (target.includes('://') ? target : join(dirname(page), target)))
    .filter((target) => ![TRANSLATED, 'README.md'].includes(target))
    .sort();
}

describe('README', () => {
  it('is short', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES);
    const words = readme.replace(FENCES, '').match(/\S*[\p{L}\p{N}]\S*/gu) ?? [];
    expect(words.length).toBeLessThanOrEqual(MOST_WORDS);
  });

  it.each(['docs/guarantees.md', 'docs/internals/design.md'])(
    'has the promise in the words of %s',
    (page) => {
      expect(promiseOf('README.md')).toContain('is never answered `absent`');
      expect(promiseOf(page)).toBe(promiseOf('README.md'));
    },
  );

  it('has the same code and links in Chinese', () => {
    const translated = readFileSync(TRANSLATED, 'utf8');
    expect(translated.match(FENCES)).toEqual(readme.match(FENCES));
    expect(linksOf(TRANSLATED)).toEqual(linksOf('README.md'));
  });
});
