import assert from 'node:assert/strict';
import { NestFactory } from '@nestjs/core';
import { createConnection, Types } from 'mongoose';
import { BloomService } from 'nestjs-bloom';
import { AppModule } from './app.module.js';
import { ItemRepository } from './item.repository.js';

const seed = await createConnection(process.env.MONGODB_URL!, { dbName: 'bloom_example' }).asPromise();
await seed.dropDatabase();
const mug = new Types.ObjectId();
await seed.collection('items').insertOne({ _id: mug, name: 'Mug' });
await seed.close();

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
await app.listen(0, '127.0.0.1');
try {
  await app.get(BloomService).whenReady({ timeoutMs: 120_000 });
  const items = app.get(ItemRepository);
  const url = `${await app.getUrl()}/items`;

  assert.equal((await fetch(`${url}/${mug.toHexString()}`)).status, 200);
  assert.equal((await fetch(`${url}/${mug.toHexString().toUpperCase()}`)).status, 200);

  // The first 20 absent answers of a guard are compared with what the database says, then one in 1,000.
  const before = items.lookups;
  for (let i = 0; i < 100; i++) {
    assert.equal((await fetch(`${url}/${new Types.ObjectId().toHexString()}`)).status, 404);
  }
  assert.ok(items.lookups - before <= 25, 'the database was asked for absent ids');

  const lamp = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const answer = await fetch(url, { ...lamp, body: JSON.stringify({ name: 'Lamp' }) });
  const { id } = (await answer.json()) as { id: string };
  assert.equal((await fetch(`${url}/${id}`)).status, 200);
} finally {
  await app.close();
}
