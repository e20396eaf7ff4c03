import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { FilterPlan } from '../src/filter/index.js';
import { assert, type BenchContext } from './harness.js';

const SOURCE = fileURLToPath(new URL('limit.c', import.meta.url));

/** `limit.c` with a filter of this plan, filled and waiting; undefined where no C compiler is. */
export class CLimit {
  private constructor(
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
  ) {}

  static async start(plan: FilterPlan, queries: number, context: BenchContext): Promise<CLimit | undefined> {
    if (spawnSync('cc', ['--version'], { stdio: 'ignore' }).status !== 0) {
      context.skip('the C program', 'no C compiler (cc) is on the PATH');
      return undefined;
    }
    const folder = mkdtempSync(join(tmpdir(), 'nestjs-bloom-limit-'));
    context.cleanUp(() => rmSync(folder, { recursive: true, force: true }));
    const program = join(folder, 'limit');
    execFileSync('cc', ['-O3', '-march=native', '-o', program, SOURCE]);
    const values = [plan.capacity, plan.blocks, plan.hashCount, queries];
    const child = spawn(program, values.map(String), { stdio: ['pipe', 'pipe', 'inherit'] });
    context.cleanUp(async () => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    assert((await lines.next()).value === 'ready', 'the C program to fill its filter');
    const limit = new CLimit(child, lines);
    assert((await limit.ask('hits')).found === queries, 'the C program to find every present id');
    const { found } = await limit.ask('misses');
    assert(found < queries * plan.errorRate * 2, 'the C program to keep to the error rate');
    return limit;
  }

  /** Checks per second. */
  async measure(what: 'hits' | 'misses'): Promise<number> {
    return (await this.ask(what)).rate;
  }

  private async ask(what: string): Promise<{ rate: number; found: number }> {
    this.child.stdin!.write(`${what}\n`);
    const [rate, found] = ((await this.lines.next()).value as string).split(' ').map(Number);
    return { rate: rate!, found: found! };
  }
}
