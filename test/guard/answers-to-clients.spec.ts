import { Controller, Inject, Injectable } from '@nestjs/common';
import { type ClientProxy, ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { io, type Socket } from 'socket.io-client';
import type { INestApplication } from '@nestjs/common';
import type { AddressInfo } from 'node:net';
import { BloomGuarded } from '../../src/index.js';
import { BloomTestingModule } from '../../src/testing/index.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { giveBudget } from './support/budgeted-filter.js';
import { testBloom } from './support/test-bloom.js';
import { TestFilter } from './support/test-filter.js';

@Controller()
class Messages {
  @MessagePattern('find')
  @BloomGuarded('products')
  async find(sku: string) {
    return { sku };
  }
}

@WebSocketGateway()
class Sockets {
  @SubscribeMessage('find')
  @BloomGuarded('products', { id: (_client: unknown, sku: string) => sku })
  async find(_client: unknown, sku: string) {
    return { sku };
  }
}

let app: INestApplication;
beforeEach(async () => {
  const module = await Test.createTestingModule({
    imports: [BloomTestingModule.of({ products: ['A-1'] })],
    controllers: [Messages],
    providers: [Sockets],
  }).compile();
  app = module.createNestApplication({ logger: false });
});
afterEach(() => app.close());

describe('A client that asks for an absent id', () => {
  let client: ClientProxy | undefined;
  let socket: Socket | undefined;
  afterEach(() => {
    void client?.close();
    socket?.close();
  });

  it('by a message of TCP gets an error of status 404', async () => {
    const port = await freePort();
    app.connectMicroservice({ transport: Transport.TCP, options: { port } });
    await app.startAllMicroservices();
    client = ClientProxyFactory.create({ transport: Transport.TCP, options: { port } });
    expect(await lastValueFrom(client.send('find', 'A-1'))).toEqual({ sku: 'A-1' });
    const answer = await lastValueFrom(client.send('find', 'none')).catch((error: unknown) => error);
    expect(answer).toMatchObject({ statusCode: 404, message: 'Not Found' });
  });

  it('by a socket gets an exception', async () => {
    await app.listen(0, '127.0.0.1');
    const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
    socket = io(`http://127.0.0.1:${port}`, { transports: ['websocket'] });
    expect(await socket.emitWithAck('find', 'A-1')).toEqual({ sku: 'A-1' });
    const exception = new Promise((resolve) => socket!.once('exception', resolve));
    socket.emit('find', 'none');
    expect(await exception).toMatchObject({ status: 'error', message: 'Not Found' });
  });
});

@Injectable()
class Repository {
  release: () => void = () => {};

  @BloomGuarded('products')
  async find(sku: string) {
    await new Promise<void>((resolve) => (this.release = resolve));
    return { sku };
  }
}

@Controller()
class Asked {
  constructor(@Inject(Repository) private readonly repository: Repository) {}

  @MessagePattern('find')
  find(sku: string) {
    return this.repository.find(sku);
  }
}

describe('A client of a microservice whose filter cannot judge', () => {
  it('gets an error of status 503 when a provider refuses the call', async () => {
    const filter = new TestFilter('products');
    filter.verdict = 'unknown';
    giveBudget(filter, { concurrent: 1, queue: 0 });
    const module = await Test.createTestingModule({
      imports: [testBloom({ filters: [filter] })],
      controllers: [Asked],
      providers: [Repository],
    }).compile();
    const port = await freePort();
    const options = { port, host: '127.0.0.1' };
    const service = module.createNestMicroservice({ transport: Transport.TCP, options, logger: false });
    await service.listen();
    const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
    try {
      const first = lastValueFrom(client.send('find', 'a'));
      await eventually('the method runs', () => filter.guarding.budget!.metrics().running === 1);
      const answer = await lastValueFrom(client.send('find', 'b')).catch((error: unknown) => error);
      expect(answer).toEqual({ status: 'error', statusCode: 503, message: 'Service Unavailable' });
      module.get(Repository).release();
      expect(await first).toEqual({ sku: 'a' });
    } finally {
      void client.close();
      await service.close();
    }
  });
});
