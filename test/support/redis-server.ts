import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A redis-server of our own, on 127.0.0.1. */
export interface RedisServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Id of the process that runs now, or ran last. */
  readonly pid: number;
  /** Its working directory: removed by `stop`, kept by `kill` and `restart`. */
  readonly dir: string;
  /** Ends it for good. Can be called twice. */
  stop(): Promise<void>;
  /**
   * Sends a signal (SIGKILL by default) and, unless that only pauses or wakes the server, waits for its end.
   */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Ends it, if it runs, with a SIGTERM and starts it again on the same port and directory. */
  restart(options?: RedisOptions): Promise<void>;
}

export interface RedisOptions {
  /** As on the command line: `['--save', '60 1', '--appendonly', 'yes']`. By default nothing is persisted. */
  readonly args?: readonly string[];
}

const HOST = '127.0.0.1';
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 15_000;
const PORT_ATTEMPTS = 20;
/** When the process that holds the other end of its input is gone, however it went, the server goes too. */
const WATCHDOG = 'cat; kill -KILL "$1"; rm -rf "$2"';

/** Starts a redis-server on a free port and resolves once it answers. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'nestjs-bloom-redis-'));
  try {
    for (let attempt = 1; ; attempt++) {
      const port = randomPort();
      try {
        return new OwnRedisServer(dir, port, await launch(dir, port, options.args ?? []), options.args ?? []);
      } catch (error) {
        if (!(error instanceof PortTakenError) || attempt === PORT_ATTEMPTS) throw error;
      }
    }
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error;
  }
}

class OwnRedisServer implements RedisServer {
  readonly host = HOST;
  readonly url: string;

  constructor(
    readonly dir: string,
    readonly port: number,
    private child: ChildProcess,
    private args: readonly string[],
  ) {
    this.url = `redis://${HOST}:${port}`;
  }

  get pid(): number {
    return this.child.pid!;
  }

  async stop(): Promise<void> {
    await terminate(this.child);
    await rm(this.dir, { recursive: true, force: true });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (hasExited(this.child)) return;
    const exited = once(this.child, 'exit');
    this.child.kill(signal);
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await exited;
  }

  async restart({ args = this.args }: RedisOptions = {}): Promise<void> {
    await terminate(this.child);
    this.args = args;
    this.child = await launch(this.dir, this.port, args);
  }
}

class PortTakenError extends Error {}

async function launch(dir: string, port: number, args: readonly string[]): Promise<ChildProcess> {
  const program = process.env.REDIS_SERVER || 'redis-server';
  const ours = ['--bind', HOST, '--port', String(port), '--dir', dir, '--save', '', '--appendonly', 'no'];
  // Detached: a Ctrl-C on the terminal is for the test run, which ends its servers itself.
  const child = spawn(program, [...ours, ...args], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  const keep = (chunk: Buffer) => (log = (log + chunk.toString()).slice(-4_000));
  child.stdout!.on('data', keep);
  child.stderr!.on('data', keep);

  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = new Error(
      `Expected a redis-server as '${program}' (environment variable REDIS_SERVER, or the PATH), got: ${error.message}. ` +
        'Run "npm test", which installs one, or "node scripts/ensure-redis.mjs", or set REDIS_SERVER to its path.',
    );
  });
  child.once('close', () => {
    failure ??= /Address already in use/i.test(log)
      ? new PortTakenError(`Expected port ${port} to be free for redis-server, it is taken.`)
      : new Error(
          `redis-server ended before it answered. Its arguments: ${child.spawnargs.join(' ')}. It said:\n${log}`,
        );
  });
  if (child.pid !== undefined) watch(child, dir);

  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!(await answers(port, child.pid))) {
    if (!failure && performance.now() > deadline) {
      await terminate(child);
      failure = new Error(`redis-server did not answer within ${START_TIMEOUT_MS} ms. It said:\n${log}`);
    }
    if (failure) throw failure;
    await delay(10);
  }
  return child;
}

/** Ties the life of a child, and of the folder that it works in, to that of this process. */
export function watch(child: ChildProcess, dir = ''): void {
  const watchdog = spawn('sh', ['-c', WATCHDOG, 'redis-watchdog', String(child.pid), dir], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.unref();
  // Not waited for when the server is not waited for.
  (watchdog.stdin as unknown as { unref(): void }).unref();
  child.once('exit', () => watchdog.kill('SIGKILL'));
}

/** Whether the server of this process id, and no other that took the port, is ready. */
function answers(port: number, pid: number | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    let reply = '';
    const socket = connect({ port, host: HOST }, () => socket.write('PING\r\nINFO server\r\nQUIT\r\n'));
    socket.setTimeout(1_000, () => socket.destroy());
    socket.on('data', (chunk) => (reply += chunk.toString()));
    socket.on('error', () => {});
    socket.on('close', () =>
      resolve(
        (reply.startsWith('+PONG') && reply.includes(`process_id:${pid}\r\n`)) || reply.startsWith('-NOAUTH'),
      ),
    );
  });
}

/** Ends a child, paused or not, and waits for it. */
export async function terminate(child: ChildProcess): Promise<void> {
  if (hasExited(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  // A paused server takes note of the SIGTERM only when it is woken.
  child.kill('SIGCONT');
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(force);
}

function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/**
 * Below the ports that systems give to outgoing connections, so that none of those takes it while the server
 * is down, and low enough for the cluster bus (port + 10,000).
 */
function randomPort(): number {
  return 20_000 + Math.floor(Math.random() * 12_000);
}
