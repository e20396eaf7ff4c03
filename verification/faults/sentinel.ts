import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from '../../test/support/eventually.js';
import { freePort } from '../../test/support/free-port.js';
import { terminate, watch } from '../../test/support/redis-server.js';
import type { Address } from '../../test/support/tcp-proxy.js';

export const SENTINEL_MASTER = 'shop';

const HOST = '127.0.0.1';
const DOWN_AFTER_MS = 300;

/** One sentinel that decides alone: the same program as the server. */
export class Sentinel {
  private constructor(
    readonly address: Address,
    private readonly child: ChildProcess,
    private readonly dir: string,
  ) {}

  /** Resolves when it knows the master and so many replicas. */
  static async start(master: Address, replicas = 1): Promise<Sentinel> {
    const dir = await mkdtemp(join(tmpdir(), 'nestjs-bloom-sentinel-'));
    const port = await freePort();
    const config = join(dir, 'sentinel.conf');
    await writeFile(
      config,
      [
        `port ${port}`,
        `bind ${HOST}`,
        `dir ${dir}`,
        `sentinel monitor ${SENTINEL_MASTER} ${master.host} ${master.port} 1`,
        `sentinel down-after-milliseconds ${SENTINEL_MASTER} ${DOWN_AFTER_MS}`,
        `sentinel failover-timeout ${SENTINEL_MASTER} 5000`,
      ].join('\n'),
    );
    const program = process.env.REDIS_SERVER || 'redis-server';
    const child = spawn(program, [config, '--sentinel'], { detached: true, stdio: 'ignore' });
    child.once('error', () => {});
    if (child.pid !== undefined) watch(child, dir);
    const sentinel = new Sentinel({ host: HOST, port }, child, dir);
    try {
      await sentinel.untilKnown(replicas);
      return sentinel;
    } catch (error) {
      await sentinel.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await terminate(this.child);
    await rm(this.dir, { recursive: true, force: true });
  }

  private async untilKnown(count: number): Promise<void> {
    const client = new Redis({ ...this.address, retryStrategy: () => 50 });
    client.on('error', () => {});
    try {
      await eventually('the sentinel knows the replicas', async () => {
        const replicas = (await client.call('SENTINEL', 'REPLICAS', SENTINEL_MASTER)) as unknown[];
        return replicas.length >= count;
      });
    } finally {
      client.disconnect();
    }
  }
}
