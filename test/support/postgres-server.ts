import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { once } from 'node:events';
import pg from 'pg';
import { freePort } from './free-port.js';
import { watch } from './redis-server.js';

/** A Postgres server of our own, on 127.0.0.1. */
export interface PostgresServer {
  readonly url: string;
  /** Ends it for good, with its data. */
  stop(): Promise<void>;
  /** As after a crash: all connections end, and the log is replayed. Resolves when it answers again. */
  crash(): Promise<void>;
  /** Runs statements on a connection of its own. */
  run(sql: string): Promise<void>;
}

export interface PostgresOptions {
  /**
   * `name=value`, as on the command line. Default: what makes a server of a test fast and loses data in a
   * crash of the machine.
   */
  readonly settings?: readonly string[];
  /** The server is a standby of this one, which has to take readers of its log. */
  readonly standbyOf?: PostgresServer;
}

const DEBIAN_FOLDER = '/usr/lib/postgresql';
const START_TIMEOUT_MS = 120_000;
/**
 * A client that takes nothing may hold an orderly end up: the server waits for it to have read all of a log
 * that it follows.
 */
const STOP_TIMEOUT_MS = 15_000;
/**
 * A pool of `pg` says that it has ended before its connections are closed, and reports an error if the server
 * ends them.
 */
const LEAVE_MS = 500;
/** The user `nobody`. */
const NOBODY = 65_534;
const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off'];

/** Starts a server on a free port; undefined where no Postgres is installed. */
export async function startPostgres({ settings = FAST, standbyOf }: PostgresOptions = {}): Promise<
  PostgresServer | undefined
> {
  const programs = findPrograms();
  if (!programs) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'nestjs-bloom-postgres-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    // Postgres refuses to run as root.
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    if (user.uid) chownSync(folder, user.uid, user.gid);
    const data = join(folder, 'data');
    const options = { ...user, cwd: folder, stdio: 'ignore' as const };
    // With the locale C.UTF-8 texts are in the order of their code points.
    const [program, ...args] = standbyOf
      ? ['pg_basebackup', '-D', data, '-d', standbyOf.url, '-c', 'fast', '-R', '--no-sync']
      : ['initdb', '-D', data, '-A', 'trust', '-U', 'test', '--no-sync', '-E', 'UTF8', '--locale', 'C.UTF-8'];
    const made = spawnSync(join(programs, program!), args, options);
    if (made.status !== 0)
      throw new Error(`Expected ${program} in ${programs} to make ${data}, got exit ${made.status}.`);
    const port = await freePort();
    const all = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings];
    const url = `postgres://test@127.0.0.1:${port}/postgres`;
    const begin = async () => {
      const child = spawn(
        join(programs, 'postgres'),
        ['-D', data, ...all.flatMap((setting) => ['-c', setting])],
        { ...options, detached: true },
      );
      watch(child, folder);
      await answers(url, child);
      return child;
    };
    let child = await begin();
    return {
      url,
      run: (sql) => run(url, sql),
      stop: async () => {
        await stop(child);
        remove();
      },
      crash: async () => {
        await stop(child, 'SIGQUIT');
        child = await begin();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * As `startPostgres`.
 *
 * @throws {Error} where no Postgres is installed: what to do.
 */
export async function requirePostgres(options?: PostgresOptions): Promise<PostgresServer> {
  const server = await startPostgres(options);
  if (server) return server;
  throw new Error(
    'Expected a Postgres server to be installed, found none. Run "npm test", which installs one, or "node scripts/ensure-postgres.mjs".',
  );
}

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** The folder of the newest installed version, else the one on the PATH. */
function findPrograms(): string | undefined {
  const versions = existsSync(DEBIAN_FOLDER)
    ? readdirSync(DEBIAN_FOLDER).map(Number).filter(Number.isFinite)
    : [];
  const folders = [
    ...versions.sort((a, b) => b - a).map((version) => join(DEBIAN_FOLDER, String(version), 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))));
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  for (const end = performance.now() + START_TIMEOUT_MS; performance.now() < end; await delay(50)) {
    if (child.exitCode !== null) break;
    const isReady = await run(url, 'select 1').then(
      () => true,
      () => false,
    );
    if (isReady) return;
  }
  throw new Error(`Expected Postgres to answer at ${url} within ${START_TIMEOUT_MS / 1000} s.`);
}

/** Without waiting for clients that stay. SIGQUIT: without a checkpoint either. */
async function stop(child: ChildProcess, signal: 'SIGTERM' | 'SIGQUIT' = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  // SIGTERM: no new clients.
  child.kill(signal);
  const hurry = setTimeout(() => child.kill('SIGINT'), LEAVE_MS);
  const force = setTimeout(() => child.kill('SIGQUIT'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(hurry);
  clearTimeout(force);
}
