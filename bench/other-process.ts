import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { BenchContext } from './harness.js';

/** A program of this folder in a process of its own, that answers each message with one. */
export class OtherProcess {
  private constructor(private readonly child: ChildProcess) {}

  /**
   * @param hasSession whether it has a session of its own, as a service has: some kernels share the processor
   * between sessions
   */
  static start(
    program: string,
    words: readonly string[],
    context: BenchContext,
    { hasSession = false } = {},
  ): OtherProcess {
    const file = fileURLToPath(new URL(program, import.meta.url));
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    const child = fork(file, words, { stdio: [...stdio], detached: hasSession });
    const process = new OtherProcess(child);
    context.cleanUp(() => process.ended());
    return process;
  }

  async ask<Answer>(message: string): Promise<Answer> {
    this.child.send(message);
    return this.answer();
  }

  /** From now on it gets the processor time that nothing else wants. */
  yieldProcessor(): void {
    setPriority(this.child.pid!, constants.priority.PRIORITY_LOW);
  }

  /** Stops it, unless it has ended. */
  async ended(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill();
    await exited;
  }

  /** What the process says next. */
  async answer<Answer>(): Promise<Answer> {
    const ended = once(this.child, 'exit').then(() => {
      throw new Error(`${this.child.spawnargs.at(-1)} ended early.`);
    });
    const [answer] = await Promise.race([once(this.child, 'message'), ended]);
    return answer as Answer;
  }
}
