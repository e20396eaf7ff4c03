// Writes src/store/redis/lua/*.generated.ts from src/store/redis/lua ("npm run generate"): the scripts are part of the package's
// JavaScript and never read from disk at run time. Each kind of filter has a file of its own, so that nobody loads the scripts of a
// kind that is not used. --check only tells whether the files are up to date.
//
// A line `--- @include "lease"` in a script stands for lua/include/lease.lua, once in a script however often it is named. What is
// embedded is code and the markers that tests look for (--safety:, --part:, --end), without headers and other comments.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { embed, root } from './embed.mjs';

const FOLDER = 'src/store/redis/lua';
/** The folders of each generated file. */
const KINDS = {
  core: ['protocol', 'segments', 'blocked'],
  bitmap: ['bitmap'],
  bf: ['bf'],
  cf: ['cf'],
  growing: ['growing'],
};
const INCLUDE = /^--- @include "([\w-]+)"$/;
const MARKER = /^--(safety:|part:|end$)/;

const files = readdirSync(join(root, FOLDER), { recursive: true, encoding: 'utf8' });
const scripts = files
  .filter((file) => file.endsWith('.lua') && !file.startsWith(`include${sep}`))
  .sort((one, other) => (basename(one) < basename(other) ? -1 : 1));
const names = scripts.map((file) => basename(file, '.lua'));
const twice = names.find((name, i) => names.indexOf(name) !== i);
if (twice)
  throw new Error(`Expected each script in ${FOLDER} to have a name of its own, got two named ${twice}.lua.`);
const ofNoKind = scripts.find((file) => !Object.values(KINDS).flat().includes(file.split(sep)[0]));
if (ofNoKind) throw new Error(`Expected every script to be in a folder of KINDS, got ${ofNoKind}.`);

for (const [kind, folders] of Object.entries(KINDS)) {
  const entries = scripts.filter((file) => folders.includes(file.split(sep)[0])).map(entryOf);
  embed({
    target: `${FOLDER}/${kind}.generated.ts`,
    from: folders.map((folder) => `${FOLDER}/${folder}/*.lua`).join(', '),
    code: `export const ${kind}Lua = {\n${entries.join('')}};\n`,
  });
}
for (const file of files.filter((one) => one.endsWith('.generated.ts') && !(one.slice(0, -13) in KINDS))) {
  if (process.argv.includes('--check')) throw new Error(`Expected no ${file}: there is no such kind.`);
  rmSync(join(root, FOLDER, file));
}

function entryOf(file) {
  const name = basename(file, '.lua').replace(/[-_](.)/g, (_, letter) => letter.toUpperCase());
  const source = codeOf(file, new Set(), [file]);
  return `  ${name}: {\n    source: \`${source.replace(/[\\`]|\$\{/g, '\\$&')}\`,\n  },\n`;
}

/** The code of a script, with that of its includes where they are named. */
function codeOf(file, included, path) {
  const text = readFileSync(join(root, FOLDER, file), 'utf8').replaceAll('\r\n', '\n');
  const lines = text.replace(/^--\[\[[^]*?\]\]\n/, '').split('\n');
  let code = '';
  for (const line of lines) {
    const name = INCLUDE.exec(line)?.[1];
    if (name !== undefined) code += includeOf(name, included, path);
    else if (line.trim() !== '' && (MARKER.test(line) || !line.trimStart().startsWith('--')))
      code += `${line}\n`;
  }
  return code;
}

function includeOf(name, included, path) {
  const file = join('include', `${name}.lua`);
  if (path.includes(file))
    throw new Error(`Expected no circle of includes, got ${[...path, file].join(' → ')}.`);
  if (included.has(file)) return '';
  included.add(file);
  return codeOf(file, included, [...path, file]);
}
