import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { compileErrors, filesOf } from '../support/documented-code.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Pages whose code is meant to be copied: each block is a file. */
const PAGES = ['README.md', 'docs/adopt.md', 'docs/testing.md'];

describe('The code of the documents', () => {
  it('names the file of each block', () => {
    for (const page of PAGES) {
      const files = filesOf(`${root}/${page}`);
      expect(files.length).toBeGreaterThan(0);
      expect(files.filter(({ name }) => name === '').map(({ text }) => `${page}: ${text}`)).toEqual([]);
    }
  });

  it('compiles as it is copied', () => {
    expect(
      compileErrors(
        root,
        PAGES.map((page) => `${root}/${page}`),
      ),
    ).toEqual([]);
  });
});
