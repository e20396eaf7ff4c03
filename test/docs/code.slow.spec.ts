import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { compileErrors, filesOf, pieceErrors } from '../support/documented-code.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Pages whose code is meant to be copied: each block is a file. */
const PAGES = [
  'README.md',
  'docs/README.zh-CN.md',
  'docs/adopt.md',
  'docs/configuration.md',
  'docs/opentelemetry.md',
  'docs/dashboard.md',
  // The page of the command line has no code.
  ...readdirSync(`${root}/packages`)
    .filter((wing) => wing !== 'cli')
    .map((wing) => `packages/${wing}/README.md`),
];
/** Code that test runners load. Its imports name no extension: those of a new Nest 11 application do not. */
const OF_TESTS = 'docs/testing.md';
/** Pages whose code leaves out what the reader has; `given` declares that. */
const PIECES = [
  'attacks',
  'cluster',
  'interop',
  'metrics',
  'options',
  'outside-writers',
  'overload',
  'prometheus',
  'runbook',
  'security',
  'sources',
  'tenants',
];

describe('The code of the documents', () => {
  it('names the file of each block', () => {
    for (const page of [...PAGES, OF_TESTS]) {
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
        `${root}/test/docs/given/wings`,
      ),
    ).toEqual([]);
  });

  it('compiles as test runners load it', () => {
    const pages = ['README.md', OF_TESTS].map((page) => `${root}/${page}`);
    const resolved = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
    expect(compileErrors(root, pages, `${root}/test/docs/given/wings`, resolved)).toEqual([]);
  });

  it.each(PIECES)('compiles with what its page leaves out: docs/%s.md', (page) => {
    expect(pieceErrors(root, `${root}/docs/${page}.md`, `${root}/test/docs/given/${page}.d.ts`)).toEqual([]);
  });

  it('is compiled, whichever page it is on', () => {
    const compiled = new Set([...PAGES, OF_TESTS, ...PIECES.map((page) => `docs/${page}.md`)]);
    const pages = readdirSync(`${root}/docs`).filter((page) => page.endsWith('.md'));
    const others = pages.map((page) => `docs/${page}`).filter((page) => !compiled.has(page));
    expect(others.filter((page) => filesOf(`${root}/${page}`).length > 0)).toEqual([]);
  });
});
