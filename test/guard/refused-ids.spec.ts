import { BadRequestException, Body, Controller, Injectable, Post, SetMetadata } from '@nestjs/common';
import { EventPattern, MessagePattern, RpcException } from '@nestjs/microservices';
import { SubscribeMessage, WsException } from '@nestjs/websockets';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BloomIdError, BloomUnavailableError } from '../../src/common/index.js';
import { BloomRegisters } from '../../src/guard/index.js';
import { PLATFORMS } from '../support/nest-app.js';
import type { Anything } from './support/anything.js';
import { GuardedProviders } from './support/guarded-providers.js';
import { GuardedRoutes } from './support/guarded-routes.js';

/** What `@Mutation()` leaves on a method. */
const Mutation = () => SetMetadata('graphql:resolver_type', 'Mutation');

let reached: unknown[];

@Injectable()
class Handlers {
  @MessagePattern('create')
  @BloomRegisters('products')
  async ofMessage(sku: Anything) {
    reached.push(sku);
  }

  @SubscribeMessage('create')
  @BloomRegisters('products', { id: (_client: unknown, sku: Anything) => sku })
  async ofSocket(_client: unknown, sku: Anything) {
    reached.push(sku);
  }

  @EventPattern('created')
  @BloomRegisters('products')
  async ofEvent(sku: Anything) {
    reached.push(sku);
  }

  @Mutation()
  @BloomRegisters('products')
  async ofField(sku: Anything) {
    reached.push(sku);
  }

  @BloomRegisters('products')
  async ofApplication(sku: Anything) {
    reached.push(sku);
  }
}

@Controller()
class ProductController {
  @Post('one')
  @BloomRegisters('products', { id: 'sku', onError: 'queue' })
  async one(@Body() product: { sku: Anything }) {
    reached.push(product.sku);
  }

  @Post('many')
  @BloomRegisters('products', { id: ({ skus }: { skus: string[] }) => skus, maxIds: 2 })
  async many(@Body() { skus }: { skus: string[] }) {
    reached.push(skus);
  }

  @Post('made')
  @BloomRegisters('products', { from: 'result' })
  async made(): Promise<Anything> {
    return null;
  }
}

beforeEach(() => void (reached = []));

describe.each(PLATFORMS)('What cannot be recorded as an id, on a route of %s', (platform) => {
  let routes: GuardedRoutes;
  beforeEach(() => void (routes = new GuardedRoutes(platform)));
  afterEach(() => routes.close());

  it('is a 400 without a word about the application, and an event that says which value it was', async () => {
    const { get } = await routes.start(ProductController);
    const post = (path: string, body: object) =>
      get(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const badRequest = { status: 400, body: { statusCode: 400, message: 'Bad Request' } };
    const invalid = [undefined, null, '', 0.5, true, [], ['A-1'], {}, 'x'.repeat(1025)];
    for (const sku of invalid) expect(await post('/one', { sku })).toEqual(badRequest);
    for (const skus of [['a', 'b', 'c'], ['a', null], [['a']]])
      expect(await post('/many', { skus })).toEqual(badRequest);
    expect(reached).toEqual([]);
    expect(routes.products.addCalls).toEqual([]);
    expect(routes.events).toHaveLength(invalid.length + 3);
    expect(routes.events[0]).toEqual({
      type: 'invalid-id',
      filter: 'products',
      method: 'ProductController.one',
      answered: true,
      error: expect.any(BloomIdError),
    });
    expect((await post('/one', { sku: 'A-1' })).status).toBe(201);
    expect((await post('/many', { skus: ['a', 'b'] })).status).toBe(201);
  });

  it('is a 500 where the method has made it: the client is not to blame', async () => {
    const { get } = await routes.start(ProductController);
    expect((await get('/made', { method: 'POST' })).status).toBe(500);
    expect(routes.events).toEqual([]);
  });
});

describe('What cannot be recorded as an id, and no HTTP request has sent', () => {
  let app: GuardedProviders;
  beforeEach(() => void (app = new GuardedProviders()));
  afterEach(() => app.close());

  it('is answered as Nest answers each client, with the reason as its cause', async () => {
    const handlers = (await app.start([Handlers])).get(Handlers);
    const errorOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);
    for (const [Class, error] of [
      [RpcException, await errorOf(handlers.ofMessage(null))],
      [WsException, await errorOf(handlers.ofSocket({}, null))],
      [BadRequestException, await errorOf(handlers.ofField(null))],
    ] as const) {
      expect(error).toBeInstanceOf(Class);
      expect(error).toMatchObject({
        cause: expect.objectContaining({ message: expect.stringMatching(/ got null\./) }),
      });
      expect((error as Error).message).toBe('Bad Request');
    }
    expect(await errorOf(handlers.ofMessage(''))).toMatchObject({
      error: { statusCode: 400, message: 'Bad Request' },
    });
    expect(app.events).toHaveLength(4);
    expect(reached).toEqual([]);
  });

  it('is a BloomIdError where nobody waits for the answer, and where the application calls', async () => {
    const handlers = (await app.start([Handlers])).get(Handlers);
    await expect(handlers.ofEvent(null)).rejects.toThrow(BloomIdError);
    await expect(handlers.ofApplication(null)).rejects.toThrow(
      /^@BloomRegisters\('products'\) on Handlers.ofApplication: Expected an id /,
    );
    expect([app.events, reached]).toEqual([[], []]);
  });

  it('is not what the store cannot take at the moment: that stays a 503', async () => {
    const handlers = (await app.start([Handlers])).get(Handlers);
    app.products.addError = new BloomUnavailableError('down');
    await expect(handlers.ofMessage('A-1')).rejects.toMatchObject({ error: { statusCode: 503 } });
    await expect(handlers.ofField('A-1')).rejects.toMatchObject({ status: 503 });
  });
});
