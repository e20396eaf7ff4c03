import type { INestApplication } from '@nestjs/common';
import { BloomFilter, BloomService } from 'nestjs-bloom';
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { ProductController, ProductRepository } from './shop.js';

/** Asserts that the guard keeps lookups of absent ids away, on the route and in the repository. */
export async function check(app: INestApplication): Promise<void> {
  app.enableShutdownHooks();
  await app.listen(0, '127.0.0.1');
  try {
    const products = app.get(BloomService).filter('products');
    for (const deadline = Date.now() + 60_000; (await products.info()).state !== 'ready'; await delay(20)) {
      assert.ok(Date.now() < deadline, 'the filter was not built at start-up');
    }
    const controller = app.get(ProductController);
    assert.ok(controller.filter instanceof BloomFilter);
    const repository = app.get(ProductRepository);
    const url = await app.getUrl();
    const status = async (path: string) => (await fetch(`${url}/products/${path}`)).status;

    assert.equal(await status('A-1'), 200);
    assert.deepEqual(repository.lookups, ['A-1']);

    assert.equal(await status('Z-9'), 404);
    assert.equal(controller.calls, 1, 'the guarded route ran for an absent id');
    assert.equal(await status('unguarded/Z-9'), 404);
    assert.deepEqual(repository.lookups, ['A-1'], 'the guarded method ran for an absent id');

    await repository.create({ sku: 'Z-9' });
    assert.equal(await status('Z-9'), 200);
    assert.deepEqual(repository.lookups, ['A-1', 'Z-9']);
    await checkDashboard(url);
    assert.equal((await products.info()).store, process.env.REDIS_URL ? 'redis' : 'memory');
  } finally {
    await app.close();
  }
}

/** The page and its files are in the package, beside the code of either kind of modules. */
async function checkDashboard(url: string): Promise<void> {
  const authorization = `Basic ${Buffer.from('ada:a long password').toString('base64')}`;
  assert.equal((await fetch(`${url}/bloom/`)).status, 401);
  for (const path of [
    '',
    'assets/page.js',
    'assets/page.css',
    'assets/uplot.js',
    'assets/uplot-licence.txt',
  ]) {
    const response = await fetch(`${url}/bloom/${path}`, { headers: { authorization } });
    assert.equal(response.status, 200, `/bloom/${path}`);
    assert.ok((await response.text()).length > 100, `/bloom/${path} is empty`);
  }
  const stream = await fetch(`${url}/bloom/stream`, { headers: { authorization } });
  const { value } = await stream.body!.pipeThrough(new TextDecoderStream()).getReader().read();
  assert.match(value ?? '', /^retry: /);
  // It stays open: the end of the application ends it.
}
