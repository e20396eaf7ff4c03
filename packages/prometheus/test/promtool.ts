import { spawnSync } from 'node:child_process';
import { describe } from '@jest/globals';

const isThere = spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0;

/** Tests that need the program `promtool` of Prometheus; without it they are skipped, and say so. */
export function describePromtool(name: string, tests: () => void): void {
  if (isThere) {
    describe(name, tests);
    return;
  }
  const skipped = `${name} (SKIPPED: no promtool)`;
  process.stderr.write(`\n${skipped}. Run: npm run promtool\n`);
  describe.skip(skipped, tests);
}

/** What the program says; exits other than 0 are failures. */
export function promtool(
  args: readonly string[],
  { cwd, input }: { readonly cwd?: string; readonly input?: string } = {},
): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, {
    cwd,
    input,
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { status, said: `${stdout}${stderr}` };
}
