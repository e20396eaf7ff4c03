import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext } from './harness.js';

const DEBIAN_FOLDER = '/usr/lib/postgresql';
const START_TIMEOUT_MS = 20_000;
/** The user `nobody`. */
const NOBODY = 65_534;

/** A Postgres server of our own on loopback with its default settings; its URL, or undefined where none is installed. */
export async function startPostgres(context: BenchContext): Promise<string | undefined> {
  const programs = findPrograms();
  if (!programs) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'nestjs-bloom-postgres-'));
  context.cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  // Postgres refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (user.uid) chownSync(folder, user.uid, user.gid);
  const options = { ...user, cwd: folder, stdio: 'ignore' as const };
  const data = join(folder, 'data');
  const made = spawnSync(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'bench'], options);
  if (made.status !== 0)
    throw new Error(`Expected initdb in ${programs} to make ${data}, got exit ${made.status}.`);
  const port = await freePort();
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
  const child = spawn(
    join(programs, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    options,
  );
  context.cleanUp(() => stop(child));
  await answers(port, child);
  return `postgres://bench@127.0.0.1:${port}/postgres`;
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(port: number, child: ChildProcess): Promise<void> {
  for (const end = performance.now() + START_TIMEOUT_MS; performance.now() < end; await delay(100)) {
    if (child.exitCode !== null) break;
    const socket = connect(port, '127.0.0.1');
    const connected = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (connected) return;
  }
  throw new Error(`Expected Postgres to answer on port ${port} within ${START_TIMEOUT_MS / 1000} s.`);
}

/** SIGINT: without waiting for clients. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await ended;
}
