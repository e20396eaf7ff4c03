// "node scripts/pack.mjs <folder>" builds all packages and packs them there, as they would be published.
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packages, root } from './packages.mjs';

/** Runs a program in plain sight; throws when it fails. */
export function run(program, args, options = {}) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', ...options });
  if (status !== 0)
    throw new Error(`"${[program, ...args].join(' ')}" failed: ${error?.message ?? `exit code ${status}`}`);
}

/** An empty folder for one run. */
export function temporaryFolder() {
  return mkdtempSync(join(tmpdir(), 'nestjs-bloom-package-'));
}

/**
 * The tarball of each package by its name, as a dependency names it (`file:…`): they are built and packed
 * into `folder`. If `PACKED` in the environment names a folder where that has been done just now, those.
 */
export function pack(folder) {
  const home = process.env.PACKED ?? folder;
  if (!process.env.PACKED) {
    run('npm', ['run', '-s', 'build']);
    run('npm', ['pack', '--workspaces', '--silent', '--pack-destination', folder]);
  }
  return Object.fromEntries(packages.map(({ json }) => [json.name, `file:${join(home, tarballOf(json))}`]));
}

/** As npm names it: `nestjs-bloom-typeorm-0.1.0.tgz`. */
function tarballOf({ name, version }) {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
}

if (process.argv[1] === import.meta.filename) pack(process.argv[2]);
