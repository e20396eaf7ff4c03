import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { filesOf } from '../support/documented-code.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const RECIPES = `${root}/docs/recipes`;
const pages = readdirSync(RECIPES).filter((page) => page !== 'README.md');

describe('A recipe', () => {
  it.each(pages)('shows code of an example that runs: %s', (page) => {
    const blocks = filesOf(`${RECIPES}/${page}`);
    expect(blocks.length).toBeGreaterThan(0);
    for (const { name, text } of blocks) {
      expect(name).toMatch(/^examples\//);
      const code = text.slice(text.indexOf('\n') + 1);
      expect(readFileSync(`${root}/${name}`, 'utf8')).toContain(code);
    }
  });

  it('is listed', () => {
    const list = readFileSync(`${RECIPES}/README.md`, 'utf8');
    for (const page of pages) expect(list).toContain(`](${page})`);
  });
});
