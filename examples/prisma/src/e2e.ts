import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';
import { BloomService } from 'nestjs-bloom';
import pg from 'pg';
import { AppModule } from './app.module.js';
import { PrismaService } from './prisma.service.js';

const seed = new pg.Client({ connectionString: process.env.DATABASE_URL });
await seed.connect();
await seed.query(readFileSync(new URL('../migration.sql', import.meta.url), 'utf8'));
await seed.query(`INSERT INTO products (sku, name) VALUES ('mug', 'Mug') ON CONFLICT DO NOTHING`);
await seed.end();

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
await app.listen(0, '127.0.0.1');
try {
  await app.get(BloomService).whenReady({ timeoutMs: 120_000 });
  const url = `${await app.getUrl()}/products`;
  let queries = 0;
  app.get(PrismaService).$on('query', () => queries++);

  assert.equal((await fetch(`${url}/mug`)).status, 200);
  assert.notEqual(queries, 0);

  // The first 20 absent answers of a guard are compared with what the database says, then one in 1,000.
  const before = queries;
  for (let i = 0; i < 100; i++) assert.equal((await fetch(`${url}/lamp-${i}`)).status, 404);
  assert.ok(queries - before <= 25, 'the database was asked for absent SKUs');

  const lamp = { method: 'POST', headers: { 'content-type': 'application/json' } };
  await fetch(url, { ...lamp, body: JSON.stringify({ sku: 'lamp', name: 'Lamp' }) });
  assert.equal((await fetch(`${url}/lamp`)).status, 200);
} finally {
  await app.close();
}
