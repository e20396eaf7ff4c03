import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { forkProgram } from '../../test/support/forked-program.js';
import type {
  InstanceOptions,
  MemoryOptions,
  MemoryReply,
  MemoryRequest,
  Reply,
  Request,
} from './instance-protocol.js';

/** One instance of the shop in a process of its own. Requests are answered in order. */
export class InstanceProcess {
  private readonly waiting: { resolve: (reply: MemoryReply) => void; reject: (error: Error) => void }[] = [];

  private constructor(private readonly child: ChildProcess) {
    child.on('message', (reply: MemoryReply) => this.waiting.shift()?.resolve(reply));
    child.once('exit', (code) => {
      for (const { reject } of this.waiting.splice(0))
        reject(new Error(`An instance ended with code ${code}.`));
    });
  }

  static async start(
    options: InstanceOptions | MemoryOptions,
    file = './instance.ts',
  ): Promise<InstanceProcess> {
    const program = fileURLToPath(new URL(file, import.meta.url));
    const instance = new InstanceProcess(forkProgram(program, options));
    // It speaks first, when it is ready.
    await new Promise<Reply>((resolve, reject) => instance.waiting.push({ resolve, reject }));
    return instance;
  }

  send(request: Request | MemoryRequest): Promise<MemoryReply> {
    return new Promise((resolve, reject) => {
      if (!this.child.connected) return reject(new Error('The instance has ended.'));
      this.waiting.push({ resolve, reject });
      this.child.send(request);
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
    this.child.kill('SIGKILL');
  }
}
