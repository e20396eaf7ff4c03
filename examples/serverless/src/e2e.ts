import assert from 'node:assert/strict';
import { NestFactory } from '@nestjs/core';
import { BloomService } from 'nestjs-bloom';
import { AppModule } from './app.module.js';
import { handler } from './lambda.js';

// In place of `npx @nestjs-bloom/cli rebuild products --app …`.
const job = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
await job.get(BloomService).filter('products').rebuild();
await job.close();

assert.deepEqual(await call('GET', '/products/mug'), { status: 200, body: { sku: 'mug', name: 'Mug' } });
assert.equal((await call('GET', '/products/lamp')).status, 404);
assert.equal((await call('POST', '/products', { sku: 'lamp', name: 'Lamp' })).status, 201);
assert.deepEqual(await call('GET', '/products/lamp'), { status: 200, body: { sku: 'lamp', name: 'Lamp' } });
// What has frozen is ended by its platform.
process.exit();

/** A call as the HTTP API of AWS makes it. */
async function call(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const event = {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: { 'content-type': 'application/json', host: 'localhost' },
    requestContext: { http: { method, path, sourceIp: '127.0.0.1' }, stage: '$default' },
    ...(body && { body: JSON.stringify(body) }),
    isBase64Encoded: false,
  };
  const answer = (await handler(event, {} as never, () => {})) as { statusCode: number; body: string };
  return { status: answer.statusCode, body: JSON.parse(answer.body) };
}
