import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const seed = new pg.Client({ connectionString: process.env.DATABASE_URL });
await seed.connect();
await seed.query('CREATE TABLE IF NOT EXISTS products (sku text PRIMARY KEY, name text NOT NULL)');
await seed.query(`INSERT INTO products VALUES ('mug', 'Mug') ON CONFLICT DO NOTHING`);
await seed.end();

const children: ChildProcess[] = [];
try {
  const [admin, shop] = await Promise.all([start('admin'), start('shop')]);
  const status = async (): Promise<{ state: string; lookups: number }> =>
    (await fetch(`${shop}/status`)).json();
  const statusOf = async (sku: string) => (await fetch(`${shop}/products/${sku}`)).status;
  for (let tries = 0; (await status()).state !== 'ready'; tries++) {
    assert.ok(tries < 1200, 'the filter was not ready within two minutes');
    await delay(100);
  }

  assert.equal(await statusOf('mug'), 200);

  // The first 20 absent answers of a guard are compared with what the database says, then one in 1,000.
  const { lookups } = await status();
  for (let i = 0; i < 100; i++) assert.equal(await statusOf(`lamp-${i}`), 404);
  assert.ok((await status()).lookups - lookups <= 25, 'the database was asked for absent SKUs');

  // What one application creates, the other one finds at once.
  const lamp = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const created = await fetch(`${admin}/products`, {
    ...lamp,
    body: JSON.stringify({ sku: 'lamp', name: 'Lamp' }),
  });
  assert.equal(created.status, 201);
  assert.equal(await statusOf('lamp'), 200);
} finally {
  for (const child of children) child.kill();
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')));
}

/** Starts an application on a free port; its address. */
async function start(app: string): Promise<string> {
  const child = spawn(process.execPath, [...process.execArgv, `apps/${app}/src/main.ts`], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [url] = await once(createInterface(child.stdout!), 'line');
  return String(url).replace('[::1]', '127.0.0.1').replace('localhost', '127.0.0.1');
}
