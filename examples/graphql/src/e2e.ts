import assert from 'node:assert/strict';
import { NestFactory } from '@nestjs/core';
import { BloomService } from 'nestjs-bloom';
import { AppModule } from './app.module.js';
import { ProductRepository } from './product.repository.js';

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
await app.listen(0, '127.0.0.1');
try {
  await app.get(BloomService).whenReady({ timeoutMs: 120_000 });
  const url = `${await app.getUrl()}/graphql`;
  const { asked } = app.get(ProductRepository);

  assert.deepEqual(await ask('{ product(sku: "mug") { name } }'), { product: { name: 'MUG' } });
  assert.deepEqual(asked.splice(0), [['mug']]);

  assert.deepEqual(await ask('{ product(sku: "lamp") { name } }'), { product: null });
  assert.equal(asked.length, 0, 'the database was asked for an absent SKU');

  // One batch, of the SKUs that may exist; the others are null in their places.
  assert.deepEqual(await ask('{ basket(skus: ["vase", "lamp", "mug"]) { product { sku } } }'), {
    basket: [{ product: { sku: 'vase' } }, { product: null }, { product: { sku: 'mug' } }],
  });
  assert.deepEqual(
    asked.splice(0).map((skus) => skus.sort()),
    [['mug', 'vase']],
  );

  async function ask(query: string): Promise<unknown> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const { data, errors } = (await response.json()) as { data: unknown; errors?: unknown };
    assert.equal(errors, undefined);
    return data;
  }
} finally {
  await app.close();
}
