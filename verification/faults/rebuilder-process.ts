import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { forkProgram } from '../../test/support/forked-program.js';
import type { FromRebuilder, RebuilderOptions, ToRebuilder } from './rebuilder-protocol.js';
import type { ShopDatabase } from './shop-database.js';
import { LEASE_MS } from './timings.js';

const PROGRAM = fileURLToPath(new URL('./rebuilder.ts', import.meta.url));
/**
 * A busy machine takes long to start a process, and to give it a turn; one that has ended is noticed at once.
 */
const GIVE_UP_MS = 120_000;
/** On a busy machine a rebuild may lose its lease before it comes to its step. */
const MAX_ATTEMPTS = 5;

/** What starts in the process. */
export interface RebuilderProgram {
  readonly path: string;
  readonly giveUpMs: number;
}

/** A rebuild in a process of its own, which stops itself at a step. */
export class RebuilderProcess {
  private readonly heard = new Map<FromRebuilder['type'], FromRebuilder>();
  private readonly listeners = new Set<() => void>();

  private constructor(
    private readonly child: ChildProcess,
    table: ShopDatabase,
    private readonly giveUpMs: number,
  ) {
    child.on('message', (message: FromRebuilder) => {
      if (message.type === 'read') this.send({ type: 'rows', ids: table.visibleIds() });
      this.heard.set(message.type, message);
      for (const listener of this.listeners) listener();
    });
    child.on('exit', () => {
      for (const listener of this.listeners) listener();
    });
  }

  /** The process is gone when this rejects. */
  static async start(
    table: ShopDatabase,
    options: RebuilderOptions,
    { path, giveUpMs }: RebuilderProgram = { path: PROGRAM, giveUpMs: GIVE_UP_MS },
  ): Promise<RebuilderProcess> {
    const child = forkProgram(path, options);
    const rebuilder = new RebuilderProcess(child, table, giveUpMs);
    try {
      await rebuilder.hears('ready');
    } catch (error) {
      await rebuilder.stop();
      throw error;
    }
    return rebuilder;
  }

  /** Resolves when a rebuild has come to its step. */
  async runToStep(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      this.heard.delete('ended');
      this.send({ type: 'rebuild' });
      const message = await this.hears('stopping', 'ended');
      if (message.type !== 'ended') return;
      if (attempt === MAX_ATTEMPTS) {
        throw new Error(`The rebuild never came to its step: it ended with '${message.how}'.`);
      }
      await delay(LEASE_MS);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** How the rebuild ended: `published`, `skipped`, or the reason of its failure. */
  async outcome(): Promise<string> {
    const message = await this.hears('ended');
    return message.type === 'ended' ? message.how : '';
  }

  /** Resolves when the process has ended, on its own or by a signal. */
  async exited(): Promise<void> {
    if (this.hasExited()) return;
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      this.child.kill('SIGKILL');
    }, this.giveUpMs);
    await once(this.child, 'exit');
    clearTimeout(timer);
    if (hung) throw new Error('The rebuilder does not end.');
  }

  async stop(): Promise<void> {
    if (this.hasExited()) return;
    this.child.kill('SIGKILL');
    await this.exited();
  }

  private send(message: ToRebuilder): void {
    if (this.child.connected) this.child.send(message, () => {});
  }

  /** The first message of these types that is there, or comes. */
  private hears(...types: FromRebuilder['type'][]): Promise<FromRebuilder> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        this.listeners.delete(look);
        settle();
      };
      const look = () => {
        const message = types.map((type) => this.heard.get(type)).find((heard) => heard !== undefined);
        if (message) finish(() => resolve(message));
        else if (this.hasExited())
          finish(() => reject(new Error(`The rebuilder ended before '${types.join("' or '")}'.`)));
      };
      const timer = setTimeout(
        () => finish(() => reject(new Error(`The rebuilder never said '${types.join("' or '")}'.`))),
        this.giveUpMs,
      );
      this.listeners.add(look);
      look();
    });
  }

  private hasExited(): boolean {
    if (this.child.pid === undefined) return true;
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }
}
