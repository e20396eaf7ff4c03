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

  // The first 20 absent answers of a guard are compared with what the database says, then one in 1,000.
  for (let i = 0; i < 100; i++) {
    assert.deepEqual(await ask(`{ product(sku: "lamp-${i}") { name } }`), { product: null });
  }
  assert.ok(asked.splice(0).length <= 25, 'the database was asked for absent SKUs');

  // One batch, of the SKUs that may exist, and of those that are compared; the others are null in their
  // places.
  assert.deepEqual(await ask('{ basket(skus: ["vase", "lamp", "mug"]) { product { sku } } }'), {
    basket: [{ product: { sku: 'vase' } }, { product: null }, { product: { sku: 'mug' } }],
  });
  assert.deepEqual(
    asked.splice(0).map((skus) => skus.filter((sku) => sku !== 'lamp').sort()),
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
