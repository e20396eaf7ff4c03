import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

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
 * Builds and packs the package as it would be published; the path of the tarball in `folder`. Where `PACKED` in the environment names a
 * tarball that has been packed just now, that one.
 */
export function pack(folder) {
  if (process.env.PACKED) return process.env.PACKED;
  const args = ['pack', '--json', '--pack-destination', folder];
  const { status, stdout, error } = spawnSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0)
    throw new Error(`"npm ${args.join(' ')}" failed: ${error?.message ?? `exit code ${status}`}\n${stdout}`);
  // A build that runs before may print to stdout as well.
  const [{ filename }] = JSON.parse(stdout.slice(stdout.lastIndexOf('\n[') + 1));
  return join(folder, filename);
}
