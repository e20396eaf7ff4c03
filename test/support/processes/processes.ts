import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { forkProgram } from '../forked-program.js';
import type { Counts, FromProcess, ProcessOptions, Tally, ToProcess } from './process-protocol.js';

const PROGRAM = fileURLToPath(new URL('./process.ts', import.meta.url));

export interface RunOptions {
  readonly forMs: number;
  readonly isEnough: (done: Counts) => boolean;
  readonly meanwhile: () => Promise<unknown>;
}

/**
 * Processes of their own on one filter, and the table of rows and the ledger of acknowledged adds that they
 * share.
 */
export class Processes {
  /** All ids; the source of every rebuild. */
  private readonly rows = new Set<string>();
  /** Ids that were acknowledged and whose rows are there. */
  private readonly acknowledged = new Set<string>();
  private readonly children: ChildProcess[] = [];
  private readonly tallies: Tally[] = [];
  /** What each has told last. */
  private readonly counts = new Map<ChildProcess, Counts>();
  /** Those that look ids up. */
  private readonly running = new Set<ChildProcess>();
  /** Processes that have still to forget an id, and those that wait for that. */
  private readonly forgetting = new Map<string, { missing: Set<ChildProcess>; answer: () => void }>();
  private ready = 0;
  private failure: Error | undefined;

  /** Rows that are there from the beginning. */
  constructor(first: readonly string[]) {
    for (const id of first) this.rows.add(id);
  }

  get ledger(): readonly string[] {
    return [...this.acknowledged];
  }

  /**
   * Runs these processes side by side for a time, and until they have done enough; `meanwhile` is done again
   * and again.
   */
  async run(options: readonly ProcessOptions[], { forMs, isEnough, meanwhile }: RunOptions): Promise<Counts> {
    try {
      for (const one of options) this.fork(one);
      await this.until(() => this.ready === options.length);
      this.tellAll({ type: 'start' });
      for (const end = performance.now() + forMs; performance.now() < end || !isEnough(this.sum());) {
        if (this.failure) throw this.failure;
        await meanwhile();
        await delay(500);
      }
      this.tellAll({ type: 'stop' });
      await this.until(() => this.tallies.length === options.length);
      return this.sum();
    } finally {
      for (const child of this.children) child.kill('SIGKILL');
    }
  }

  /** Ids that were denied though they were acknowledged. */
  get wrong(): readonly string[] {
    return this.tallies.flatMap(({ wrong }) => wrong);
  }

  private sum(): Counts {
    const sum = { lookUps: 0, absents: 0, adds: 0, removals: 0, rebuilds: 0 };
    for (const counts of this.counts.values())
      for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += counts[name];
    return sum;
  }

  private fork(options: ProcessOptions): void {
    const child = forkProgram(PROGRAM, options);
    this.children.push(child);
    this.running.add(child);
    child.on('message', (message: FromProcess) => this.hear(child, message));
    child.on('exit', (code, signal) => {
      if (code !== 0) this.failure ??= new Error(`A process of the test ended with ${code ?? signal}.`);
    });
  }

  private hear(child: ChildProcess, message: FromProcess): void {
    switch (message.type) {
      case 'ready':
        this.ready++;
        return;
      case 'counts':
        this.counts.set(child, message.counts);
        return;
      case 'ended':
        this.tallies.push(message.tally);
        this.counts.set(child, message.tally);
        // It looks nothing up any more, and says nothing more.
        this.running.delete(child);
        for (const id of this.forgetting.keys()) this.forgot(child, id);
        return;
      case 'forgot':
        this.forgot(child, message.id);
        return;
      case 'asks': {
        const { number, question } = message;
        const answer = (rows: readonly string[] = []) => tell(child, { type: 'answer', number, rows });
        switch (question.type) {
          case 'make':
            this.rows.add(question.id);
            return answer();
          case 'added':
            this.acknowledged.add(question.id);
            this.tellAll({ type: 'learn', id: question.id });
            return answer();
          case 'end':
            this.rows.delete(question.id);
            this.acknowledged.delete(question.id);
            this.forgetting.set(question.id, { missing: new Set(this.running), answer });
            this.tellAll({ type: 'forget', id: question.id });
            return;
          case 'rows':
            return answer([...this.rows]);
        }
      }
    }
  }

  private forgot(child: ChildProcess, id: string): void {
    const waiting = this.forgetting.get(id);
    if (!waiting?.missing.delete(child) || waiting.missing.size > 0) return;
    this.forgetting.delete(id);
    waiting.answer();
  }

  private tellAll(message: ToProcess): void {
    for (const child of this.children) tell(child, message);
  }

  private async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.failure) throw this.failure;
      await delay(20);
    }
  }
}

function tell(child: ChildProcess, message: ToProcess): void {
  // One that has just ended needs to hear nothing.
  if (child.connected) child.send(message, () => {});
}
