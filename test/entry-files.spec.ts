import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';

/** Files and packages that importing an entry loads. What is imported with `import type` or `import()` is not: the compiler keeps to that. */
function loadedBy(entry: string): { files: string[]; packages: string[] } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string) => {
    if (files.has(file)) return;
    files.add(file);
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
    for (const statement of source.statements) {
      const specifier = loadedSpecifier(statement);
      if (specifier === undefined) continue;
      if (!specifier.startsWith('.')) packages.add(specifier);
      else visit(posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts'));
    }
  };
  visit(entry);
  return { files: [...files], packages: [...packages] };
}

function loadedSpecifier(statement: ts.Statement): string | undefined {
  const isType =
    (ts.isImportDeclaration(statement) && statement.importClause?.isTypeOnly) ||
    (ts.isExportDeclaration(statement) && statement.isTypeOnly);
  if (isType || !(ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))) return undefined;
  const { moduleSpecifier } = statement;
  return moduleSpecifier && ts.isStringLiteralLike(moduleSpecifier) ? moduleSpecifier.text : undefined;
}

/** What belongs to layouts of others, to those that grow, to tests, to integrations, or to the command line. */
const GUESTS = [
  'interop',
  'scaling',
  'cli',
  'testing',
  'integrations',
  'filter/peers',
  'filter/growing',
  'store/memory/cf',
  'store/memory/growing',
  ...['bitmap', 'bf', 'cf', 'growing', 'inspection'].map((room) => `store/redis/${room}`),
  ...['bitmap', 'bf', 'cf', 'growing'].map((kind) => `store/redis/lua/${kind}.generated.ts`),
].map((path) => `src/${path}`);

const guestsOf = (files: readonly string[]) =>
  files.filter((file) => GUESTS.some((guest) => file === guest || file.startsWith(`${guest}/`)));

describe("What import 'nestjs-bloom' loads", () => {
  const { files, packages } = loadedBy('src/index.ts');

  it('is no file of a layout of others, of one that grows, or of the command line', () => {
    expect(guestsOf(files)).toEqual([]);
    expect(files).toContain('src/store/redis/blocked/blocked-filter.ts');
  });

  it('is no package that only some applications need', () => {
    expect(
      packages.filter((name) =>
        /^(@nestjs\/(schedule|throttler)|@opentelemetry|prom-client|cron|ioredis|commander)/.test(name),
      ),
    ).toEqual([]);
    expect(packages).toContain('@nestjs/common');
  });
});

describe('What another entry loads', () => {
  it.each(['src/filter-entry.ts', 'src/store-entry.ts', 'src/interop/index.ts', 'src/scaling/index.ts'])(
    'needs neither Nest nor ioredis: %s',
    (entry) => {
      const { packages } = loadedBy(entry);
      expect(packages.filter((name) => !name.startsWith('node:'))).toEqual([]);
    },
  );

  it('is no file of a guest with nestjs-bloom/filter, and that of its guests alone with the others', () => {
    expect(guestsOf(loadedBy('src/filter-entry.ts').files)).toEqual([]);
    expect(loadedBy('src/interop/index.ts').files.filter((file) => /growing|scaling/.test(file))).toEqual([]);
    expect(
      loadedBy('src/scaling/index.ts').files.filter((file) => /peers|bitmap|\/(bf|cf)\//.test(file)),
    ).toEqual([]);
  });

  it('is compared with rooms and files that there are', () => {
    expect(GUESTS.filter((guest) => !existsSync(guest))).toEqual([]);
  });
});
