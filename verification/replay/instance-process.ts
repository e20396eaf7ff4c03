import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { forkProgram } from '../../test/support/forked-program.js';
import type { Numbered } from './answered-requests.js';
import type {
  InstanceOptions,
  MemoryOptions,
  MemoryReply,
  MemoryRequest,
  Reply,
  Request,
} from './instance-protocol.js';

/** One instance of the shop in a process of its own. Requests are answered in any order. */
export class InstanceProcess {
  private readonly waiting = new Map<
    number,
    { readonly resolve: (reply: MemoryReply) => void; readonly reject: (error: Error) => void }
  >();
  private last = 0;

  private constructor(private readonly child: ChildProcess) {
    child.on('message', ({ number, body }: Numbered<MemoryReply>) => {
      this.waiting.get(number)?.resolve(body);
      this.waiting.delete(number);
    });
    child.once('exit', (code) => {
      for (const { reject } of this.waiting.values())
        reject(new Error(`An instance ended with code ${code}.`));
      this.waiting.clear();
    });
  }

  static async start(
    options: InstanceOptions | MemoryOptions,
    file = './instance.ts',
  ): Promise<InstanceProcess> {
    const program = fileURLToPath(new URL(file, import.meta.url));
    const instance = new InstanceProcess(forkProgram(program, options));
    // It speaks first, when it is ready.
    await new Promise<Reply>((resolve, reject) => instance.waiting.set(0, { resolve, reject }));
    return instance;
  }

  send(request: Request | MemoryRequest): Promise<MemoryReply> {
    return new Promise((resolve, reject) => {
      if (!this.child.connected) return reject(new Error('The instance has ended.'));
      const number = ++this.last;
      this.waiting.set(number, { resolve, reject });
      this.child.send({ number, body: request } satisfies Numbered<Request | MemoryRequest>);
    });
  }

  /** Closes the shop; the reply holds its rebuilds. */
  async stop(): Promise<Reply> {
    const reply = await this.send({ type: 'stop' });
    const exited = once(this.child, 'exit');
    this.child.disconnect();
    await exited;
    return reply;
  }

  kill(): void {
    this.signal('SIGKILL');
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}
