import assert from 'node:assert/strict';
import { NestFactory } from '@nestjs/core';
import { BloomService } from 'nestjs-bloom';
import { DataSource } from 'typeorm';
import { AppModule } from './app.module.js';
import { database, queryLog } from './database.js';
import { Product } from './product.entity.js';

const seed = await new DataSource(database).initialize();
await seed.manager.upsert(Product, [{ sku: 'mug', name: 'Mug' }], ['sku']);
await seed.destroy();

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
await app.listen(0, '127.0.0.1');
try {
  await app.get(BloomService).whenReady({ timeoutMs: 120_000 });
  const url = `${await app.getUrl()}/products`;

  assert.equal((await fetch(`${url}/mug`)).status, 200);

  // The first 20 absent answers of a guard are compared with what the database says, then one in 1,000.
  const before = queryLog.queries.length;
  for (let i = 0; i < 100; i++) assert.equal((await fetch(`${url}/lamp-${i}`)).status, 404);
  assert.ok(queryLog.queries.length - before <= 25, 'the database was asked for absent SKUs');

  const lamp = { method: 'POST', headers: { 'content-type': 'application/json' } };
  await fetch(url, { ...lamp, body: JSON.stringify({ sku: 'lamp', name: 'Lamp' }) });
  assert.equal((await fetch(`${url}/lamp`)).status, 200);

  // Past the repository: the subscriber has recorded it.
  await app.get(DataSource).manager.insert(Product, { sku: 'vase', name: 'Vase' });
  assert.equal((await fetch(`${url}/vase`)).status, 200);
} finally {
  await app.close();
}
