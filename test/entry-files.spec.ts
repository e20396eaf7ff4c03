import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';

/**
 * Files and packages that importing an entry loads. What is imported with `import type` or `import()` is not:
 * the compiler keeps to that.
 */
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

/** What belongs to tests or to integrations. */
const GUESTS = ['src/testing', 'src/integrations'];

const guestsOf = (files: readonly string[]) =>
  files.filter((file) => GUESTS.some((guest) => file.startsWith(`${guest}/`)));

describe("What import 'nestjs-bloom' loads", () => {
  const { files, packages } = loadedBy('src/index.ts');

  it('is no file of tests or of integrations', () => {
    expect(guestsOf(files)).toEqual([]);
    expect(files).toContain('src/store/redis/blocked/blocked-filter.ts');
  });

  it('is no package that only some applications need', () => {
    expect(packages.filter((name) => /^(@nestjs\/schedule|cron|ioredis)/.test(name))).toEqual([]);
    expect(packages).toContain('@nestjs/common');
  });
});

describe('What another entry loads', () => {
  it.each([
    'src/filter-entry.ts',
    'src/internal-entry.ts',
    'src/store-entry.ts',
    'packages/interop/src/index.ts',
    'packages/interop/src/scaling/index.ts',
  ])('needs neither Nest nor ioredis: %s', (entry) => {
    const { packages } = loadedBy(entry);
    expect(packages.filter((name) => !/^(node:|nestjs-bloom\/(filter|internal|store)$)/.test(name))).toEqual(
      [],
    );
  });

  it('is that of filters that grow, or that of layouts of others, never both', () => {
    const grown = /growing|scaling/;
    expect(loadedBy('packages/interop/src/index.ts').files.filter((file) => grown.test(file))).toEqual([]);
    const scaling = loadedBy('packages/interop/src/scaling/index.ts').files;
    expect(scaling.filter((file) => /formats|bitmap|\/(bf|cf)\//.test(file))).toEqual([]);
  });

  it('is compared with rooms that there are', () => {
    expect(GUESTS.filter((guest) => !existsSync(guest))).toEqual([]);
  });
});
