import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, type Bench, type Goal, median } from './harness.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CORE = /^nestjs-bloom-\d[^/]*\.tgz$/;

/**
 * The packages are built and packed first. Each import is one of a fresh process that has loaded Nest and
 * ioredis.
 */
export const bench: Bench = async ({ report, pick, cleanUp }) => {
  const folder = mkdtempSync(join(tmpdir(), 'nestjs-bloom-import-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  run('scripts/pack.mjs', folder);
  const tarball = join(
    folder,
    readdirSync(folder).find((name) => CORE.test(name))!,
  );
  const packed = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
  const { files } = load<{ files: readonly string[] }>('--files');
  assert(files[0]!.endsWith('/dist/index.js'), 'the bundle to be loaded');
  // The first one reads from the disk.
  load();
  const times = Array.from({ length: pick(15, 3) }, () => load<{ ms: number }>().ms);
  expectAtMost({ metric: 'ms to import nestjs-bloom', value: median(times), atMost: 60, of: 'ms' });
  expectAtMost({ metric: 'files it reads', value: files.length, atMost: 40, of: 'files' });
  expectAtMost({ metric: 'kB packed', value: statSync(tarball).size / 1000, atMost: 500, of: 'kB' });
  expectAtMost({ metric: 'files packed', value: packed.length, atMost: 120, of: 'files' });

  function expectAtMost(goal: Required<Pick<Goal, 'metric' | 'value' | 'atMost' | 'of'>>): void {
    report.goal({ contender: 'ours', ratio: goal.value, ...goal });
  }
};

function load<Answer>(...words: string[]): Answer {
  return JSON.parse(run('test/package/app/loaded.mjs', ...words)) as Answer;
}

/** Without the flags of this process: they have sources loaded. */
function run(program: string, ...words: string[]): string {
  return execFileSync(process.execPath, [program, ...words], { cwd: ROOT, encoding: 'utf8' });
}
