import {
  Controller,
  type ExecutionContext,
  Get,
  GoneException,
  Headers,
  Injectable,
  Param,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { type ClientProxy, ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lastValueFrom, of } from 'rxjs';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { BloomGuarded, BloomGuardRunner, BloomInterceptor, SkipBloom } from '../../src/index.js';
import { BloomTestingModule } from '../../src/testing/index.js';
import { freePort } from '../support/free-port.js';
import { PLATFORMS } from '../support/nest-app.js';
import { GuardedRoutes, NOT_FOUND } from './support/guarded-routes.js';

type WithHeaders = { headers: Record<string, string> };

@Injectable()
class HeaderInterceptor extends BloomInterceptor {
  protected override idOf(context: ExecutionContext) {
    const sku = context.switchToHttp().getRequest<WithHeaders>().headers['x-sku'];
    if (sku === 'throw') throw new Error('no such header');
    return sku;
  }

  protected override async answerAbsent(context: ExecutionContext): Promise<unknown> {
    const { headers } = context.switchToHttp().getRequest<WithHeaders>();
    if (headers['x-default']) return super.answerAbsent(context);
    if (headers['x-stream']) return of('streamed');
    throw new GoneException();
  }
}

@Injectable()
class AnswerInterceptor extends BloomInterceptor {
  protected override answerAbsent(): unknown {
    return { none: true };
  }
}

@Injectable()
class ProductRoutes extends BloomInterceptor {
  protected override filterOf(context: ExecutionContext): string | undefined {
    const { name } = context.getHandler();
    if (name === 'failing') throw new Error('no filter');
    return name === 'free' ? undefined : 'products';
  }
}

describe.each(PLATFORMS)('An interceptor that extends BloomInterceptor, on %s', (platform) => {
  let routes: GuardedRoutes;
  beforeEach(() => void (routes = new GuardedRoutes(platform)));
  afterEach(() => routes.close());

  @Controller('declared')
  @UseInterceptors(HeaderInterceptor)
  class Declared {
    @Get()
    @BloomGuarded('products', { onAbsent: () => 'decorator' })
    async find(@Headers('x-sku') sku: string) {
      return { sku };
    }
  }

  @Controller('global')
  class Plain {
    @Get()
    @BloomGuarded('products', { id: (headers: WithHeaders['headers']) => headers['x-other']! })
    async find(@Headers() headers: WithHeaders['headers']) {
      return { sku: headers['x-sku'] };
    }
  }

  it('says where the id is and what an absent one is answered with', async () => {
    const { get } = await routes.start(Declared);
    const ask = (headers: Record<string, string>) => get('/declared', { headers });
    expect(await ask({ 'x-sku': 'A-1' })).toEqual({ status: 200, body: { sku: 'A-1' } });
    expect((await ask({ 'x-sku': 'none' })).status).toBe(410);
    expect((await ask({})).status).toBe(410);
    expect((await ask({ 'x-sku': 'none', 'x-default': '1' })).body).toBe('decorator');
    expect((await ask({ 'x-sku': 'none', 'x-stream': '1' })).body).toBe('streamed');
    expect(routes.products.checked).toEqual(['A-1', 'none', 'none', 'none']);
    for (let i = 0; i < 2; i++) expect((await ask({ 'x-sku': 'throw' })).status).toBe(200);
    const advice = routes.events.filter(({ type }) => type === 'advice');
    expect(advice).toEqual([
      expect.objectContaining({ text: expect.stringContaining('idOf of HeaderInterceptor threw Error') }),
    ]);
  });

  it('checks once where it is bound globally, and leaves direct calls to the guard of the method', async () => {
    const { get, app } = await routes.start(Plain, {
      providers: [{ provide: APP_INTERCEPTOR, useClass: HeaderInterceptor }],
    });
    const ask = (headers: Record<string, string>) => get('/global', { headers });
    await expect(app.get(Plain).find({ 'x-other': 'none' })).rejects.toThrow('Not Found');
    expect(await ask({ 'x-sku': 'A-1', 'x-other': 'none' })).toEqual({ status: 200, body: { sku: 'A-1' } });
    expect((await ask({ 'x-sku': 'none', 'x-other': 'A-1' })).status).toBe(410);
    expect(routes.products.checked).toEqual(['none', 'A-1', 'none']);
    expect(await app.get(Plain).find({ 'x-other': 'none' })).toBeNull();
  });

  it('is advised on where nobody asks for its answer', async () => {
    @Controller()
    class Routes {
      @Get('global/:id')
      @BloomGuarded('products')
      async global(@Param('id') id: string) {
        return { id };
      }

      @Get('declared/:id')
      @UseInterceptors(AnswerInterceptor)
      @BloomGuarded('products')
      async declared(@Param('id') id: string) {
        return { id };
      }
    }
    const { get } = await routes.start(Routes, {
      prepare: (app) => app.useGlobalInterceptors(new AnswerInterceptor(app.get(BloomGuardRunner))),
    });
    for (let i = 0; i < 2; i++) expect(await get('/global/none')).toEqual(NOT_FOUND);
    expect((await get('/declared/none')).body).toEqual({ none: true });
    expect(routes.products.checked).toEqual(['none', 'none', 'none']);
    expect(routes.events).toEqual([
      {
        type: 'advice',
        filter: 'products',
        text: expect.stringContaining(
          'Routes.global checks for itself, so answerAbsent of AnswerInterceptor is not asked',
        ),
      },
    ]);
  });

  it('names the filter of routes that declare no guard, and leaves those without an id and with @SkipBloom() alone', async () => {
    @Controller('products')
    class Routes {
      @Get('free/:id')
      async free(@Param('id') id: string) {
        return { id };
      }

      @Get('failing/:id')
      async failing(@Param('id') id: string) {
        return { id };
      }

      @SkipBloom()
      @Get('skipped/:id')
      async skipped(@Param('id') id: string) {
        return { id };
      }

      @Get('list')
      async list() {
        return 'list';
      }

      @Get(':id')
      async find(@Param('id') id: string) {
        return { id };
      }
    }
    @Controller('skipped')
    @SkipBloom()
    class Skipped extends Routes {}
    const { get } = await routes.start([Routes, Skipped], {
      providers: [{ provide: APP_INTERCEPTOR, useClass: ProductRoutes }],
    });
    expect(await get('/products/A-1')).toEqual({ status: 200, body: { id: 'A-1' } });
    expect(await get('/products/none')).toEqual(NOT_FOUND);
    expect((await get('/products/list')).body).toBe('list');
    for (const path of [
      'products/free',
      'products/failing',
      'products/skipped',
      'skipped',
      'skipped/skipped',
    ])
      expect((await get(`/${path}/none`)).status).toBe(200);
    expect(routes.products.checked).toEqual(['A-1', 'none']);
    expect(routes.events).toEqual([
      {
        type: 'filter-missing',
        filter: 'filterOf of ProductRoutes',
        method: 'Routes.failing',
        error: expect.any(Error),
      },
    ]);
  });
});

describe('An interceptor that extends BloomInterceptor, for messages', () => {
  let app: INestApplication;
  let client: ClientProxy;
  afterEach(async () => {
    await client.close();
    await app.close();
  });

  @Injectable()
  class MessageInterceptor extends BloomInterceptor {
    protected override filterOf(context: ExecutionContext): string | undefined {
      return context.getHandler().name === 'plain' ? 'products' : undefined;
    }

    protected override idOf(context: ExecutionContext) {
      return context.switchToRpc().getData<{ sku: string }>().sku;
    }

    protected override answerAbsent(context: ExecutionContext): unknown {
      return context.switchToRpc().getData<{ gone?: true }>().gone
        ? { gone: true }
        : super.answerAbsent(context);
    }
  }

  @Controller()
  class Messages {
    @MessagePattern('find')
    @UseInterceptors(MessageInterceptor)
    @BloomGuarded('products', { id: () => 'never-asked' })
    async find(message: { sku: string }) {
      return { found: message.sku };
    }

    @MessagePattern('plain')
    @UseInterceptors(MessageInterceptor)
    async plain(message: { sku: string }) {
      return { found: message.sku };
    }
  }

  it('says where the id is and what an absent one is answered with', async () => {
    const module = await Test.createTestingModule({
      imports: [BloomTestingModule.of({ products: ['A-1'] })],
      controllers: [Messages],
    }).compile();
    app = module.createNestApplication({ logger: false });
    const port = await freePort();
    app.connectMicroservice({ transport: Transport.TCP, options: { port } }, { inheritAppConfig: true });
    await app.startAllMicroservices();
    client = ClientProxyFactory.create({ transport: Transport.TCP, options: { port } });
    const ask = (pattern: string, message: object) =>
      lastValueFrom(client.send<unknown>(pattern, message)).catch((error: unknown) => error);
    for (const pattern of ['find', 'plain']) {
      expect(await ask(pattern, { sku: 'A-1' })).toEqual({ found: 'A-1' });
      expect(await ask(pattern, { sku: 'none' })).toMatchObject({ statusCode: 404, message: 'Not Found' });
      expect(await ask(pattern, { sku: 'none', gone: true })).toEqual({ gone: true });
    }
  });
});
