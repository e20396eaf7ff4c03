import assert from 'node:assert/strict';
import { once } from 'node:events';
import { NestFactory } from '@nestjs/core';
import { BloomService } from 'nestjs-bloom';
import { io } from 'socket.io-client';
import { AppModule } from './app.module.js';
import { ProductRepository } from './product.repository.js';

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
await app.listen(0, '127.0.0.1');
const socket = io(await app.getUrl(), { transports: ['websocket'] });
try {
  await app.get(BloomService).whenReady({ timeoutMs: 120_000 });
  const ask = (event: string, data: unknown): Promise<unknown> =>
    socket.timeout(60_000).emitWithAck(event, data);

  assert.deepEqual(await ask('find', 'mug'), { sku: 'mug', name: 'Mug' });

  // The first 20 absent answers of a guard are compared with what the database says, then one in 1,000.
  const { lookups } = app.get(ProductRepository);
  for (let i = 0; i < 100; i++) {
    const exception = once(socket as never, 'exception', { signal: AbortSignal.timeout(60_000) });
    socket.emit('find', `lamp-${i}`);
    const [{ message }] = await exception;
    assert.equal(message, 'Not Found');
  }
  assert.ok(app.get(ProductRepository).lookups - lookups <= 25, 'the database was asked for absent SKUs');

  await ask('create', { sku: 'lamp', name: 'Lamp' });
  assert.deepEqual(await ask('find', 'lamp'), { sku: 'lamp', name: 'Lamp' });
} finally {
  socket.disconnect();
  await app.close();
}
