import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { freePort } from './free-port.js';
import { watch } from './redis-server.js';

/** A MariaDB server of our own, on 127.0.0.1, with a database `test`. */
export interface MariaDbServer {
  readonly url: string;
  readonly version: string;
  /** Ends it for good, with its data. */
  stop(): Promise<void>;
}

export interface MariaDbOptions {
  /** `name=value`, as on the command line: `['auto_increment_increment=2']`. */
  readonly settings?: readonly string[];
}

const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 15_000;
/** Fast, and loses data in a crash of the machine. */
const FAST = ['innodb-flush-log-at-trx-commit=0', 'innodb-flush-method=nosync', 'skip-log-bin'];

/** Starts a server on a free port; undefined where no MariaDB is installed. */
export async function startMariaDb({ settings = [] }: MariaDbOptions = {}): Promise<
  MariaDbServer | undefined
> {
  const folder = mkdtempSync(join(tmpdir(), 'nestjs-bloom-mariadb-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const data = join(folder, 'data');
    // MariaDB refuses to run as root without being told to.
    const user = process.getuid?.() === 0 ? ['--user=root'] : [];
    const made = spawnSync(
      'mariadb-install-db',
      [
        '--no-defaults',
        `--datadir=${data}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        ...user,
      ],
      { stdio: 'ignore' },
    );
    if ((made.error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
      remove();
      return undefined;
    }
    if (made.status !== 0)
      throw new Error(`Expected mariadb-install-db to make ${data}, got exit ${made.status}.`);
    const port = await freePort();
    const child = spawn(
      'mariadbd',
      [
        '--no-defaults',
        `--datadir=${data}`,
        `--socket=${join(folder, 'mariadb.sock')}`,
        `--port=${port}`,
        '--bind-address=127.0.0.1',
        '--skip-name-resolve',
        ...user,
        ...[...FAST, ...settings].map((setting) => `--${setting}`),
      ],
      { cwd: folder, stdio: 'ignore', detached: true },
    );
    watch(child, folder);
    const url = `mysql://root@127.0.0.1:${port}/test`;
    const version = await firstAnswer(url, child);
    return {
      url,
      version,
      stop: async () => {
        await stop(child);
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * As `startMariaDb`.
 *
 * @throws {Error} where no MariaDB is installed: what to do.
 */
export async function requireMariaDb(options?: MariaDbOptions): Promise<MariaDbServer> {
  const server = await startMariaDb(options);
  if (server) return server;
  throw new Error(
    'Expected a MariaDB server to be installed, found none. Run "node scripts/ensure-mariadb.mjs", which installs one.',
  );
}

/** The version of the server, which has a database `test` from then on. */
async function firstAnswer(url: string, child: ChildProcess): Promise<string> {
  for (const end = performance.now() + START_TIMEOUT_MS; performance.now() < end; await delay(50)) {
    if (child.exitCode !== null) break;
    try {
      const connection = await createConnection(url.replace(/test$/, 'mysql'));
      await connection.query('create database if not exists test character set utf8mb4');
      const [rows] = await connection.query({ sql: 'select version()', rowsAsArray: true });
      await connection.end();
      return (rows as unknown as [[string]])[0][0];
    } catch {
      // It does not listen yet.
    }
  }
  throw new Error(`Expected MariaDB to answer at ${url} within ${START_TIMEOUT_MS / 1000} s.`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(force);
}
