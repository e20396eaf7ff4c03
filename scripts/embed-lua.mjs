// Writes the *.generated.ts of the core and of @nestjs-bloom/interop from their *.lua ("npm run generate"):
// the scripts are part of the package's JavaScript and never read from disk at run time. Each kind of filter
// has a file of its own, so that nobody loads the scripts of a kind that is not used. --check only tells
// whether the files are up to date.
//
// A line `--- @include "lease"` in a script stands for include/lease.lua, of the package or else of the core,
// once in a script however often it is named. An include names those that it needs in its first lines. In the
// generated files an include stands once, as a constant of the kind that uses it, or in include.generated.ts
// if several kinds do. What is embedded is code and the markers that tests look for (--safety:, --part:,
// --end), without headers and other comments.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { embed, root } from './embed.mjs';

const CORE = 'src/store/redis/lua';
/** For each folder the generated files, and the folders of each. */
const HOMES = {
  [CORE]: { core: ['client', 'board', 'swap', 'meta', 'staging', 'lock', 'filter', 'blocked'] },
  'packages/interop/src/lua': {
    generation: ['generation'],
    bitmap: ['bitmap'],
    bf: ['bf'],
    cf: ['cf'],
    growing: ['growing'],
  },
};
const INCLUDE = /^( *)--- @include "([\w-]+)"$/;
const MARKER = /^--(safety:|part:|end$)/;

/** Names of all scripts, and of the includes that some script uses. */
const [names, everUsed] = [[], new Set()];
const includesOfCore = includesOf(CORE);
for (const [home, kinds] of Object.entries(HOMES)) embedHome(home, kinds);
const twice = names.find((name, i) => names.indexOf(name) !== i);
if (twice) throw new Error(`Expected each script to have a name of its own, got two named ${twice}.lua.`);
const unused = Object.keys(HOMES)
  .flatMap((home) => [...includesOf(home).keys()])
  .find((name) => !everUsed.has(name));
if (unused) throw new Error(`Expected a script to use each include, got ${unused}.lua, which none does.`);

function embedHome(home, kinds) {
  const includes = new Map([...includesOfCore, ...includesOf(home)]);
  const files = filesOf(home);
  const scripts = files
    .filter((file) => file.endsWith('.lua') && !file.startsWith(`include${sep}`))
    .sort((one, other) => (basename(one) < basename(other) ? -1 : 1));
  names.push(...scripts.map((file) => basename(file, '.lua')));
  const ofNoKind = scripts.find((file) => !Object.values(kinds).flat().includes(file.split(sep)[0]));
  if (ofNoKind) throw new Error(`Expected every script to be in a folder of HOMES, got ${ofNoKind}.`);

  /** For each include the kinds that use it. */
  const usedBy = new Map([...includes.keys()].map((name) => [name, new Set()]));
  const bodies = new Map(
    Object.entries(kinds).map(([kind, folders]) => {
      const ofKind = scripts.filter((file) => folders.includes(file.split(sep)[0]));
      const uses = (name) => {
        usedBy.get(name).add(kind);
        everUsed.add(name);
      };
      return [kind, ofKind.map((file) => entryOf(includes, join(home, file), uses)).join('')];
    }),
  );
  const constantOf = (name) => `const ${camelCase(name)} = \`${includes.get(name).code}\`;\n`;
  const write = (kind, folders, code) => {
    const from = folders.map((folder) => `${home}/${folder}/*.lua`).join(', ');
    embed({ target: `${home}/${kind}.generated.ts`, from, code });
  };

  /** What several kinds use. */
  const shared = [...usedBy].filter(([, users]) => users.size > 1).map(([name]) => name);
  const generated = [...bodies.keys()];
  if (shared.length > 0) {
    generated.push('include');
    write('include', ['include'], shared.map((name) => `export ${constantOf(name)}`).join(''));
  }
  for (const [kind, body] of bodies) {
    const used = [...usedBy].filter(([, users]) => users.has(kind)).map(([name]) => name);
    const imported = used.filter((name) => shared.includes(name)).map(camelCase);
    const own = used.filter((name) => !shared.includes(name)).map(constantOf);
    const imports =
      imported.length === 0 ? '' : `import { ${imported.join(', ')} } from './include.generated.js';\n`;
    write(
      kind,
      [...kinds[kind], 'include'],
      `${imports}${own.join('')}export const ${kind}Lua = {\n${body}};\n`,
    );
  }
  for (const file of files.filter((one) => one.endsWith('.generated.ts'))) {
    if (generated.includes(file.slice(0, -'.generated.ts'.length))) continue;
    if (process.argv.includes('--check')) throw new Error(`Expected no ${file}: there is no such kind.`);
    rmSync(join(root, home, file));
  }
}

function filesOf(home) {
  return readdirSync(join(root, home), { recursive: true, encoding: 'utf8' });
}

function includesOf(home) {
  return new Map(
    filesOf(home)
      .filter((file) => file.endsWith('.lua') && file.startsWith(`include${sep}`))
      .sort()
      .map((file) => [basename(file, '.lua'), includeOf(join(home, file))]),
  );
}

/** A script of a generated file; reports the names of the includes that it uses. */
function entryOf(includes, file, uses) {
  const used = new Set();
  const source = linesOf(file).map((line) => {
    const [, indent, name] = INCLUDE.exec(line) ?? [];
    if (name === undefined) return codeOf(line);
    const needed = withNeeds(includes, name, [file]).filter((one) => !used.has(one));
    for (const one of needed) {
      if (indent === '') used.add(one);
      uses(one);
    }
    return needed.map((one) => `\${${camelCase(one)}}`).join('');
  });
  return `  ${camelCase(basename(file, '.lua'))}: {\n    source: \`${source.join('')}\`,\n  },\n`;
}

/** An include and all that it needs, in the order in which they must stand. */
function withNeeds(includes, name, path) {
  const include = includes.get(name);
  if (!include) throw new Error(`Expected includes that exist, got "${name}" in ${path.at(-1)}.`);
  if (path.includes(name))
    throw new Error(`Expected no circle of includes, got ${[...path, name].join(' → ')}.`);
  return [...new Set([...include.needs.flatMap((need) => withNeeds(includes, need, [...path, name])), name])];
}

/** The code of an include, and the names of those that it needs. */
function includeOf(file) {
  const lines = linesOf(file);
  const needs = lines.flatMap((line) => INCLUDE.exec(line)?.[2] ?? []);
  const body = lines.filter((line) => line.trim() !== '');
  if (body.slice(needs.length).some((line) => INCLUDE.test(line)))
    throw new Error(`Expected ${file} to name what it needs in its first lines.`);
  return { needs, code: body.slice(needs.length).map(codeOf).join('') };
}

/** The lines of a file below its header. */
function linesOf(file) {
  const text = readFileSync(join(root, file), 'utf8').replaceAll('\r\n', '\n');
  return text.replace(/^--\[\[[^]*?\]\]\n/, '').split('\n');
}

/** A line as it is embedded: nothing for a comment that is no marker. */
function codeOf(line) {
  const isCode = line.trim() !== '' && (MARKER.test(line) || !line.trimStart().startsWith('--'));
  return isCode ? `${line.replace(/[\\`]|\$\{/g, '\\$&')}\n` : '';
}

function camelCase(name) {
  return name.replace(/[-_](.)/g, (_, letter) => letter.toUpperCase());
}
