import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { forkProgram } from '../support/forked-program.js';
import type { SharedProcessOptions } from '../support/processes/shared-process.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { PRODUCTS, type SharedApplication, startShared } from '../support/shared-application.js';

const PROGRAM = fileURLToPath(new URL('../support/processes/shared-process.ts', import.meta.url));

let redis: RedisFixture;
let application: SharedApplication;
const children: ChildProcess[] = [];

beforeAll(async () => {
  redis = await RedisFixture.start();
  application = await startShared({ redis: redis.server.url });
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(async () => {
  await application.close();
  await redis.close();
});

/** A process, and what it has said. */
async function fork(): Promise<{ child: ChildProcess; said: string[] }> {
  const options: SharedProcessOptions = { redis: redis.server.url, leaseMs: 3000 };
  const child = forkProgram(PROGRAM, options);
  children.push(child);
  const said: string[] = [];
  child.on('message', (message) => void said.push(String(message)));
  await eventually('the process runs', () => said.includes('ready'), 90_000);
  return { child, said };
}

const known = () => application.bloom.instances(PRODUCTS);

it('sees processes, reaches them, stops what they do, and forgets one that dies', async () => {
  const [one, two] = await Promise.all([fork(), fork()]);
  const pids = async () => (await known()).instances.map(({ pid }) => pid).sort();
  const all = [process.pid, one.child.pid!, two.child.pid!].sort();
  await eventually('all are seen', async () => (await pids()).join() === all.join());

  await application.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' });
  for (const { said } of [one, two]) await eventually('it is heard', () => said.includes('mode-changed'));
  const modes = async () => (await known()).instances.map(({ metrics }) => metrics.mode).join();
  await eventually('all say so', async () => (await modes()) === 'off,off,off');

  one.child.send('rebuild');
  const runner = async () => (await known()).running?.pid;
  await eventually('its rebuild is seen', async () => (await runner()) === one.child.pid);
  expect(await application.bloom.stopRebuild(PRODUCTS, { by: 'Ana' })).toBe(true);
  await eventually('it has stopped', () => one.said.includes('rebuild-failed'));
  await eventually('its record is there', async () => (await known()).rebuilds[0]?.outcome === 'stopped');
  expect((await known()).rebuilds[0]).toMatchObject({ pid: one.child.pid });
  expect(await runner()).toBeUndefined();

  two.child.send('rebuild');
  await eventually('its rebuild is seen', async () => (await runner()) === two.child.pid);
  two.child.kill('SIGKILL');
  await eventually('it is forgotten', async () => !(await pids()).includes(two.child.pid!));
  await eventually('so is its rebuild', async () => (await runner()) === undefined);
  expect(await pids()).toEqual([process.pid, one.child.pid!].sort());
});
