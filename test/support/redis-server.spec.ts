import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { transformFile } from '@swc/core';
import { Redis } from 'ioredis';
import { type RedisServer, startRedis } from './redis-server.js';

const servers: RedisServer[] = [];
const clients: Redis[] = [];

async function start(args: string[] = []): Promise<RedisServer> {
  const server = await startRedis({ args });
  servers.push(server);
  return server;
}

function client(server: RedisServer): Redis {
  const redis = new Redis(server.url, { disconnectTimeout: 100 });
  redis.on('error', () => {});
  clients.push(redis);
  return redis;
}

afterEach(async () => {
  for (const redis of clients.splice(0)) redis.disconnect();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

describe('startRedis', () => {
  it('starts a server of its own that answers', async () => {
    const server = await start();
    const info = await client(server).info('server');
    expect(info).toContain(`process_id:${server.pid}`);
    expect(info).toContain(`tcp_port:${server.port}`);
  });

  it('leaves neither a process nor a directory behind after stop', async () => {
    const server = await start();
    await server.stop();
    await server.stop();
    expect(isRunning(server.pid)).toBe(false);
    expect(existsSync(server.dir)).toBe(false);
  });

  it('stops a paused server', async () => {
    const server = await start();
    await server.kill('SIGSTOP');
    await server.stop();
    expect(isRunning(server.pid)).toBe(false);
  });

  it('is empty after a kill and a restart on the same port', async () => {
    const server = await start();
    const { pid, port, dir } = server;
    await client(server).set('key', 'value');
    await server.kill();
    await server.restart();
    expect(server).toMatchObject({ port, dir });
    expect(server.pid).not.toBe(pid);
    expect(await client(server).get('key')).toBeNull();
  });

  it('keeps its data over a restart when it is told to', async () => {
    const server = await start(['--appendonly', 'yes', '--appendfsync', 'always']);
    await client(server).set('key', 'value');
    await server.kill();
    await server.restart();
    expect(await client(server).get('key')).toBe('value');
  });

  it('says what the server said when it does not start', async () => {
    await expect(startRedis({ args: ['--no-such-option', '1'] })).rejects.toThrow(
      /ended before it answered.*no-such-option/s,
    );
  });

  it('says where it looked when there is no server', async () => {
    const before = process.env.REDIS_SERVER;
    process.env.REDIS_SERVER = '/nowhere/redis-server';
    try {
      await expect(startRedis()).rejects.toThrow(/'\/nowhere\/redis-server'.*npm test/s);
    } finally {
      if (before === undefined) delete process.env.REDIS_SERVER;
      else process.env.REDIS_SERVER = before;
    }
  });

  it('takes its server along when its process is killed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'nestjs-bloom-'));
    try {
      const { code } = await transformFile('test/support/redis-server.ts', { module: { type: 'es6' } });
      await writeFile(join(folder, 'redis-server.mjs'), code);
      const script = `import { startRedis } from './redis-server.mjs';
        const { port, dir } = await startRedis(); console.log(JSON.stringify({ port, dir }));`;
      await writeFile(join(folder, 'main.mjs'), script);
      const owner = spawn(process.execPath, [join(folder, 'main.mjs')], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = (await once(owner.stdout, 'data')) as [Buffer];
      const { port, dir } = JSON.parse(line.toString()) as { port: number; dir: string };
      expect(await isListening(port)).toBe(true);
      owner.kill('SIGKILL');
      await eventually('its folder is gone', () => !existsSync(dir));
      await eventually('its server is gone', async () => !(await isListening(port)));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('refuses to restart on a port that another process took', async () => {
    const server = await start();
    await server.kill();
    // Nobody would hear that a connection has ended of which nothing is read.
    const other = createServer((socket) => socket.destroy()).listen(server.port, server.host);
    await once(other, 'listening');
    try {
      await expect(server.restart()).rejects.toThrow(`Expected port ${server.port} to be free`);
    } finally {
      other.close();
    }
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
