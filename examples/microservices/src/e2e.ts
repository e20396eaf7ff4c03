import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { ClientProxyFactory, type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { BloomService } from 'nestjs-bloom';
import { firstValueFrom } from 'rxjs';
import { AppModule } from './app.module.js';
import { ProductRepository } from './product.repository.js';

const options = { host: '127.0.0.1', port: await freePort() };
const app = await NestFactory.createMicroservice<MicroserviceOptions>(AppModule, {
  transport: Transport.TCP,
  options,
  logger: ['error', 'warn'],
});
await app.listen();
const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
try {
  await app.get(BloomService).whenReady({ timeoutMs: 120_000 });
  const ask = (pattern: string, payload: object) => firstValueFrom(client.send(pattern, payload));

  assert.deepEqual(await ask('product.find', { sku: 'mug' }), { sku: 'mug', name: 'Mug' });

  // The first 20 absent answers of a guard are compared with what the database says, then one in 1,000.
  const { lookups } = app.get(ProductRepository);
  for (let i = 0; i < 100; i++) {
    await assert.rejects(ask('product.find', { sku: `lamp-${i}` }), {
      statusCode: 404,
      message: 'Not Found',
    });
  }
  assert.ok(app.get(ProductRepository).lookups - lookups <= 25, 'the database was asked for absent SKUs');

  await ask('product.create', { sku: 'lamp', name: 'Lamp' });
  assert.deepEqual(await ask('product.find', { sku: 'lamp' }), { sku: 'lamp', name: 'Lamp' });
} finally {
  await client.close();
  await app.close();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
