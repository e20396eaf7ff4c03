import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';

export const BUSY_PER_CORE = 4;
/** It computes without end, and says on demand how much processor time it has had. */
const PROGRAM = `
  process.on('disconnect', () => process.exit());
  process.on('message', () => process.send(process.cpuUsage()));
  function compute() {
    for (const until = performance.now() + 5; performance.now() < until;);
    setImmediate(compute);
  }
  compute();
`;

/** Other work on the machine: processes that are always runnable, so many a core. They end with this one. */
export class BusyProcesses {
  private constructor(private readonly children: readonly ChildProcess[]) {}

  /** Resolves when all of them compute. */
  static async start(): Promise<BusyProcesses> {
    const cores = availableParallelism();
    const busy = new BusyProcesses(Array.from({ length: BUSY_PER_CORE * cores }, compute));
    await busy.processorMs();
    return busy;
  }

  /** Does something meanwhile. Resolves to the share of one core that each of them has had, on average. */
  async shareWhile(work: () => Promise<unknown>): Promise<number> {
    const [before, since] = [await this.processorMs(), performance.now()];
    await work();
    const ms = (await this.processorMs()) - before;
    return ms / this.children.length / (performance.now() - since);
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      }),
    );
  }

  /** Sum of all of them. */
  private async processorMs(): Promise<number> {
    const usages = await Promise.all(
      this.children.map(async (child) => {
        const answered = once(child, 'message') as Promise<[NodeJS.CpuUsage]>;
        child.send('');
        const [{ user, system }] = await answered;
        return (user + system) / 1000;
      }),
    );
    return usages.reduce((sum, ms) => sum + ms, 0);
  }
}

/**
 * In a session of its own: a kernel with `sched_autogroup_enabled` shares the processor between sessions, and
 * a redis-server has one of its own.
 */
function compute(): ChildProcess {
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
  return spawn(process.execPath, ['-e', PROGRAM], { detached: true, stdio: [...stdio] });
}
