// Writes src/store/redis/lua/scripts.generated.ts from src/store/redis/lua ("npm run generate"): the scripts are part of the
// package's JavaScript and never read from disk at run time. --check only tells whether the file is up to date.
//
// A line `--- @include "lease"` in a script stands for lua/include/lease.lua, once in a script however often it is named. What is
// embedded is code and the markers that tests look for (--safety:, --part:, --end), without headers and other comments.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { embed, root } from './embed.mjs';

const FOLDER = 'src/store/redis/lua';
const INCLUDE = /^--- @include "([\w-]+)"$/;
const MARKER = /^--(safety:|part:|end$)/;

const files = readdirSync(join(root, FOLDER), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.lua') && !file.startsWith(`include${sep}`))
  .sort((one, other) => (basename(one) < basename(other) ? -1 : 1));
const names = files.map((file) => basename(file, '.lua'));
const twice = names.find((name, i) => names.indexOf(name) !== i);
if (twice)
  throw new Error(`Expected each script in ${FOLDER} to have a name of its own, got two named ${twice}.lua.`);

const entries = files.map((file) => {
  const name = basename(file, '.lua').replace(/[-_](.)/g, (_, letter) => letter.toUpperCase());
  const source = codeOf(file, new Set(), [file]);
  return `  ${name}: {\n    source: \`${source.replace(/[\\`]|\$\{/g, '\\$&')}\`,\n  },\n`;
});

embed({
  target: 'src/store/redis/lua/scripts.generated.ts',
  from: `${FOLDER}/**/*.lua`,
  code: `export const luaSources = {\n${entries.join('')}};\n`,
});

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
