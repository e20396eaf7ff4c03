import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../test/support/eventually.js';
import { forkProgram } from '../../test/support/forked-program.js';
import { type CopyReaderOptions, type FromCopyReader, lateId, machineMs } from './copy-reader-protocol.js';

const PROGRAM = fileURLToPath(new URL('./copy-reader.ts', import.meta.url));
/** A busy machine takes long to start a process. */
const GIVE_UP_MS = 120_000;

/** A reader in a process of its own, and the adds of which it must deny none that was acknowledged. */
export class CopyReaderProcess {
  private readonly acknowledgedAt: number[] = [];
  private isLeased = false;
  private ended: Extract<FromCopyReader, { type: 'ended' }> | undefined;

  private constructor(
    private readonly child: ChildProcess,
    private readonly ids: number,
  ) {
    child.on('message', (message: FromCopyReader) => {
      if (message.type === 'leased') this.isLeased = true;
      else this.ended = message;
    });
  }

  static async start(options: CopyReaderOptions): Promise<CopyReaderProcess> {
    const reader = new CopyReaderProcess(forkProgram(PROGRAM, options), options.ids);
    await eventually('the reader is leased', () => reader.isLeased, GIVE_UP_MS);
    return reader;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Adds the next id that the reader asks for. */
  async add(add: (id: string) => Promise<unknown>): Promise<void> {
    const n = this.acknowledgedAt.length;
    if (n >= this.ids) return;
    this.acknowledgedAt[n] = Infinity;
    await add(lateId(n));
    this.acknowledgedAt[n] = machineMs();
  }

  /**
   * Ends the process. The ids that it denied after they had been acknowledged, and how many lookups its copy
   * answered.
   */
  async end(): Promise<{ wrong: string[]; local: number }> {
    this.child.send('stop');
    await eventually('the reader has ended', () => this.ended !== undefined, GIVE_UP_MS);
    const { absentAt, local } = this.ended!;
    const wrong = this.acknowledgedAt.flatMap((at, n) => (absentAt[n]! > at ? [lateId(n)] : []));
    return { wrong, local };
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }
}
