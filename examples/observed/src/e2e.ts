import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { BloomService } from 'nestjs-bloom';

// A relay in front of Redis, so that the application can lose its connection.
const redis = new URL(process.env.REDIS_URL ?? 'redis://localhost:6379');
const [host, port] = [redis.hostname, Number(redis.port || 6379)];
const sockets: Socket[] = [];
const relay = createServer((client) => {
  const server = connect(port, host);
  for (const socket of [client, server]) sockets.push(socket.on('error', () => {}));
  client.pipe(server).pipe(client);
}).listen(0, '127.0.0.1');
await once(relay, 'listening');
redis.host = `127.0.0.1:${(relay.address() as AddressInfo).port}`;
process.env.REDIS_URL = redis.href;

const { AppModule } = await import('./app.module.js');
const { Alarms } = await import('./alarms.js');
const app = await NestFactory.create(AppModule, { logger: ['error'] });
await app.listen(0, '127.0.0.1');
const url = await app.getUrl();

async function probe(path: 'live' | 'ready'): Promise<[status: number, filter: unknown]> {
  const response = await fetch(`${url}/health/${path}`);
  const { details } = (await response.json()) as { details: { products: unknown } };
  return [response.status, details.products];
}

try {
  assert.deepEqual(await probe('ready'), [503, { status: 'down', state: 'unbuilt' }]);
  assert.deepEqual(await probe('live'), [200, { status: 'up', state: 'unbuilt', mode: 'on' }]);
  await app.get(BloomService).filter('products').rebuild();
  assert.deepEqual(await probe('ready'), [200, { status: 'up', state: 'ready' }]);
  assert.deepEqual(await probe('live'), [200, { status: 'up', state: 'ready', mode: 'on' }]);
  // One of them was reported before the listeners were known.
  assert.deepEqual(app.get(Alarms).heard, ['products is unbuilt', 'products was built of 2 ids']);

  relay.close();
  for (const socket of sockets) socket.destroy();
  assert.deepEqual(await probe('ready'), [503, { status: 'down', state: 'unavailable' }]);
  assert.equal((await probe('live'))[0], 200);
} finally {
  relay.close();
  await app.close();
}
