import {
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Param,
  Query,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { AddressInfo } from 'node:net';
import { io } from 'socket.io-client';
import {
  type BloomEvent,
  BloomGuarded,
  BloomGuardedMany,
  BloomInterceptor,
  BloomModule,
  BloomService,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { PLATFORMS, type RunningApp, startApp } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

@Injectable()
class Repository {
  @BloomGuarded('products')
  async find(sku: string): Promise<string | null> {
    return sku;
  }

  @BloomGuardedMany('products')
  async findMany(skus: readonly string[]): Promise<string[]> {
    return [...skus];
  }
}

@Controller()
class Shop {
  constructor(private readonly repository: Repository) {}

  @Get('one/:sku')
  async one(@Param('sku') sku: string): Promise<unknown> {
    // Another turn of the event loop, as a pool or a cache takes it.
    await new Promise(setImmediate);
    return { found: await this.repository.find(sku) };
  }

  @Get('many')
  async many(@Query('skus') skus: string): Promise<string[]> {
    return this.repository.findMany(skus.split(','));
  }
}

@WebSocketGateway()
@UseInterceptors(BloomInterceptor)
class Sockets {
  @SubscribeMessage('find')
  @BloomGuarded('products', { id: (_socket: unknown, sku: string) => sku, onAbsent: 'null' })
  async find(_socket: unknown, sku: string): Promise<{ sku: string } | null> {
    return { sku };
  }
}

function clientOf(context: ExecutionContext): string | undefined {
  if (context.getType() === 'ws')
    return String(
      context.switchToWs().getClient<{ handshake: { auth: { user: string } } }>().handshake.auth.user,
    );
  return context.switchToHttp().getRequest<{ headers: Record<string, string> }>().headers['x-client'];
}

describe.each(PLATFORMS)('Absents on Redis, asked for by many clients at once on %s', (platform) => {
  let redis: RedisFixture;
  let app: RunningApp;
  let events: BloomEvent[];

  beforeAll(async () => {
    redis = await RedisFixture.start();
  });
  afterAll(() => redis.close());

  beforeEach(async () => {
    events = [];
    const root = BloomModule.forRoot({
      redis: redis.server.url,
      ...PATIENT,
      filters: [
        { name: 'products', capacity: 1_000, errorRate: 1e-6, create: 'first-start', replica: 'off' },
      ],
      attack: { client: clientOf },
      logger: false,
      onEvent: (event) => events.push(event),
    });
    app = await startApp(platform, {
      imports: [root],
      controllers: [Shop],
      providers: [Repository, Sockets, { provide: APP_INTERCEPTOR, useClass: BloomInterceptor }],
    });
    await app.app.get(BloomService).whenReady();
  });
  afterEach(() => app.close());

  const worst = () =>
    new Map(
      app.app
        .get(BloomService)
        .worstClients('products')
        .map(({ client, absents }) => [client, absents]),
    );

  it('are counted for those who asked, each in its own request', async () => {
    const asked = Array.from({ length: 60 }, (_, i) =>
      app.get(`/one/absent-${i}`, { headers: { 'x-client': `client-${i % 4}` } }),
    );
    const batches = [1, 2, 3].map((i) =>
      app.get('/many?skus=absent-a,absent-b,absent-c', { headers: { 'x-client': `batch-${i}` } }),
    );
    for (const { status } of await Promise.all([...asked, ...batches])) expect(status).toBe(200);
    expect(worst()).toEqual(
      new Map([
        ...[0, 1, 2, 3].map((i) => [`client-${i}`, 15] as const),
        ...[1, 2, 3].map((i) => [`batch-${i}`, 3] as const),
      ]),
    );
    expect(events.filter(({ type }) => type === 'guard-error')).toEqual([]);
  });

  it('are counted for sockets, where the gateway has the interceptor', async () => {
    const { port } = (app.app.getHttpServer() as { address(): AddressInfo }).address();
    const users = ['anna', 'bert'].map((user) =>
      io(`http://127.0.0.1:${port}`, { transports: ['websocket'], auth: { user } }),
    );
    try {
      for (const [i, socket] of users.entries())
        for (let times = 0; times < 2 + i; times++) socket.emit('find', 'none');
      await eventually(
        'all are counted',
        () => [...worst().values()].reduce((sum, absents) => sum + absents, 0) === 5,
      );
    } finally {
      for (const socket of users) socket.close();
    }
    expect(worst()).toEqual(
      new Map([
        ['anna', 2],
        ['bert', 3],
      ]),
    );
  });
});
