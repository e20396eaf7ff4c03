// What an installation costs, and beside what it can be installed.
import { deepEqual, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../scripts/pack.mjs';
import { packages, root } from '../../scripts/packages.mjs';
import { INSTALL, runProgram } from './examples.mjs';

const MOST_BYTES = 500_000;
const MOST_FILES = 120;
const MOST_LOADED = 40;
const PEERS = ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'];
const OPTIONAL_PEERS = ['@nestjs/microservices', '@nestjs/schedule', '@nestjs/websockets', 'cron', 'ioredis'];
/** Versions that the wings no longer take. The core has to be installed beside them all the same. */
const NEIGHBOURS = {
  '@mikro-orm/core': '^6.0.0',
  '@nestjs/common': '^11.0.0',
  '@nestjs/core': '^11.0.0',
  '@prisma/client': '^6.0.0',
  'drizzle-orm': '^0.44.0',
  ioredis: '^5.4.1',
  kysely: '^0.27.0',
  mongoose: '^7.0.0',
  'prom-client': '^14.0.0',
  'reflect-metadata': '^0.2.0',
  rxjs: '^7.8.0',
};
const AT_ONCE = 3;
const [core] = packages;

/** Exact figures: whoever adds a file, a dependency or a document to a package is told. */
export function checkContents(tarballs) {
  for (const { json } of packages) {
    const outermost = new Set(filesOf(tarballs[json.name]).map((file) => file.split('/')[1]));
    const expected = new Set(['LICENSE', 'README.md', 'package.json', ...json.files]);
    deepEqual([...outermost].sort(), [...expected].sort(), json.name);
  }
  const { json } = core;
  const bytes = statSync(pathOf(tarballs[json.name])).size;
  const files = filesOf(tarballs[json.name]).length;
  console.log(`${json.name}: ${bytes} bytes in ${files} files`);
  ok(bytes <= MOST_BYTES, `Expected at most ${MOST_BYTES} bytes, got ${bytes}.`);
  ok(files <= MOST_FILES, `Expected at most ${MOST_FILES} files, got ${files}.`);
  deepEqual(json.dependencies ?? {}, {}, 'the core needs nothing but its peers');
  deepEqual(Object.keys(json.peerDependencies).sort(), [...PEERS, ...OPTIONAL_PEERS].sort());
  deepEqual(Object.keys(json.peerDependenciesMeta).sort(), OPTIONAL_PEERS);
}

/** The core beside libraries of years ago, and what it loads there. */
export function installBesideOthers(home, tarballs) {
  console.log('\nThe core beside other versions than the wings take: install');
  writePackage(home, { ...NEIGHBOURS, [core.json.name]: tarballs[core.json.name] });
  run('npm', [...INSTALL, '--ignore-scripts'], { cwd: home });
  cpSync(join(root, 'test/package/app/loaded.mjs'), join(home, 'loaded.mjs'));
  const { files } = JSON.parse(execFileSync(process.execPath, ['loaded.mjs', '--files'], { cwd: home }));
  console.log(`The core beside other versions than the wings take: loads ${files.length} files`);
  ok(files.length <= MOST_LOADED, `Expected at most ${MOST_LOADED} files, got ${files.join(', ')}.`);
  checkMaps(home);
}

/** A line of a stack leads to the line of the source. */
function checkMaps(home) {
  const program = `
    import { planFilter } from 'nestjs-bloom/filter';
    try { planFilter({ capacity: 0, errorRate: 0.001 }); } catch (error) { console.log(error.stack); }`;
  const args = ['--enable-source-maps', '--input-type=module', '--eval', program];
  const stack = String(execFileSync(process.execPath, args, { cwd: home }));
  const [, file, line] = /nestjs-bloom@[\d.]+\/(src\/[^:]+):(\d+)/.exec(stack) ?? [];
  ok(file, `Expected the stack to name a file of src, got ${stack}`);
  match(readFileSync(join(root, file), 'utf8').split('\n')[line - 1], /new BloomConfigError/);
}

/**
 * Each package beside the lowest and the highest versions of the ranges that it states, as npm resolves them.
 */
export async function resolveRanges(home, tarballs) {
  const cases = packages.flatMap(({ json }) => [
    { json, end: 'lowest', versionOf: lowestOf },
    { json, end: 'highest', versionOf: highestOf },
  ]);
  while (cases.length > 0) await Promise.all(cases.splice(0, AT_ONCE).map(resolve));

  async function resolve({ json, end, versionOf }) {
    const folder = join(home, `${json.name.replaceAll('/', '-')}-${end}`);
    const required = PEERS.map((name) => [name, core.json.peerDependencies[name]]);
    const peers = [...required, ...Object.entries(json.peerDependencies)];
    const ours = [core.json.name, json.name, ...Object.keys(json.dependencies ?? {})];
    writePackage(folder, {
      ...Object.fromEntries(peers.map(([name, range]) => [name, versionOf(range)])),
      ...Object.fromEntries(ours.filter((name) => tarballs[name]).map((name) => [name, tarballs[name]])),
    });
    await runProgram('npm', [...INSTALL, '--ignore-scripts', '--package-lock-only'], { cwd: folder });
    console.log(`${json.name}: can be installed beside the ${end} versions of its peers`);
  }
}

/** `^11.0.0 || ^12.0.0`: 11.0.0. */
function lowestOf(range) {
  return /\d+\.\d+\.\d+/.exec(range)[0];
}

/** `^11.0.0 || ^12.0.0`: ^12.0.0. */
function highestOf(range) {
  return range.split('||').at(-1).trim();
}

function writePackage(home, dependencies) {
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, dependencies }));
}

function filesOf(tarball) {
  return String(execFileSync('tar', ['-tzf', pathOf(tarball)]))
    .trim()
    .split('\n');
}

function pathOf(tarball) {
  return tarball.slice('file:'.length);
}
