import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { luaSources } from '../../support/lua-sources.js';

const FOLDERS = ['src/store/redis/lua', 'packages/interop/src/lua'];
/** Lua refuses a function with more. */
const MOST_LOCALS = 200;

const FILES = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua'))
    .map((file) => join(folder, file)),
);
const INCLUDES = FILES.filter((file) => file.includes(`${sep}include${sep}`));

function read(file: string): string {
  return readFileSync(file, 'utf8');
}

function withoutHeader(text: string): string {
  return text.replace(/^--\[\[[^]*?\]\]\n/, '');
}

/** The names of the functions that an include defines. */
function functionsOf(file: string): string[] {
  return [...withoutHeader(read(file)).matchAll(/^local function (\w+)/gm)].map(([, name]) => name!);
}

describe('The Lua of the scripts', () => {
  it('has each safety in one file, once', () => {
    const found = FILES.flatMap((file) =>
      [...read(file).matchAll(/^--safety:(\S+)$/gm)].map(([, name]) => name!),
    );
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter((name, i) => found.indexOf(name) !== i)).toEqual([]);
  });

  it('ends every section that it begins, and begins none in another', () => {
    for (const [name, { source }] of Object.entries(luaSources)) {
      const markers = source.match(/^--(safety:|part:|end$)/gm) ?? [];
      const sound = markers.every((marker, i) => (marker === '--end') === (i % 2 === 1));
      expect([name, sound && markers.length % 2 === 0]).toEqual([name, true]);
    }
  });

  it.each(INCLUDES)('says in the header of %s what it gives', (file) => {
    const [header] = /^--\[\[[^]*?\]\]\n/.exec(read(file)) ?? [''];
    expect(header).toContain('Gives  ');
    for (const name of functionsOf(file)) expect(header).toContain(`${name}(`);
  });

  it('has no function in a script that the script does not call', () => {
    const defined = INCLUDES.flatMap(functionsOf);
    expect(defined.length).toBeGreaterThan(30);
    const uncalled = Object.entries(luaSources).flatMap(([script, { source }]) =>
      defined
        .filter((name) => new RegExp(`^ *local function ${name}\\(`, 'm').test(source))
        .filter((name) => source.match(new RegExp(`\\b${name}\\b`, 'g'))!.length < 2)
        .map((name) => `${script}: ${name}`),
    );
    expect(uncalled).toEqual([]);
  });

  it('has far fewer locals in a script than Lua allows', () => {
    for (const { source } of Object.values(luaSources)) {
      expect(source.match(/\blocal\b/g)?.length ?? 0).toBeLessThan(MOST_LOCALS / 2);
    }
  });

  it('asks in one place only whether a key has another type, beside the loops that are measured', () => {
    const files = FILES.filter((file) => withoutHeader(read(file)).includes('WRONGTYPE'));
    expect(files.map((file) => basename(file)).sort()).toEqual(['add.lua', 'check.lua', 'refused.lua']);
  });
});
