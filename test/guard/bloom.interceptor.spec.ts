import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  HttpException,
  Injectable,
  type NestInterceptor,
  Param,
  ParseIntPipe,
  type PipeTransform,
  UseInterceptors,
} from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { map, type Observable } from 'rxjs';
import type { BloomEvent } from '../../src/common/index.js';
import { BloomGuarded, BloomInterceptor } from '../../src/guard/index.js';
import { PLATFORMS } from '../support/nest-app.js';
import { AnsweringInterceptor } from './support/answering.interceptor.js';
import { GuardedRoutes, NOT_FOUND } from './support/guarded-routes.js';
import type { TestFilter } from './support/test-filter.js';

@Injectable()
class WrappingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data) => ({ data })));
  }
}

describe.each(PLATFORMS)('BloomInterceptor on %s', (platform) => {
  let routes: GuardedRoutes;
  let products: TestFilter;
  let events: BloomEvent[];
  const start: GuardedRoutes['start'] = (...args) => routes.start(...args);

  beforeEach(() => {
    routes = new GuardedRoutes(platform);
    ({ products, events } = routes);
  });

  afterEach(() => routes.close());

  it('checks the route parameter before other interceptors and pipes, once', async () => {
    const piped: unknown[] = [];
    const recorder: PipeTransform = {
      transform(value) {
        piped.push(value);
        return value;
      },
    };
    @Controller()
    class ProductController {
      @Get('cached/:id')
      @UseInterceptors(BloomInterceptor, AnsweringInterceptor)
      @BloomGuarded('products')
      async cached(@Param('id') _id: string) {}

      @BloomGuarded('products', { param: 'sku' })
      @UseInterceptors(BloomInterceptor)
      @Get('piped/:sku')
      async piped(@Param('sku', recorder) sku: string) {
        return { sku };
      }

      @Get('unguarded/:id')
      @UseInterceptors(BloomInterceptor)
      async unguarded(@Param('id') id: string) {
        return { id };
      }
    }
    const { get } = await start(ProductController);
    expect(await get('/cached/A-1')).toEqual({ status: 200, body: 'cached' });
    expect(await get('/cached/none')).toEqual(NOT_FOUND);
    expect(await get('/piped/A-1')).toEqual({ status: 200, body: { sku: 'A-1' } });
    expect(await get('/piped/none')).toEqual(NOT_FOUND);
    expect(await get(`/piped/${encodeURIComponent('B 2/ü')}`)).toEqual({
      status: 200,
      body: { sku: 'B 2/ü' },
    });
    expect(await get('/unguarded/none')).toEqual({ status: 200, body: { id: 'none' } });
    expect(piped).toEqual(['A-1', 'B 2/ü']);
    expect(products.checked).toEqual(['A-1', 'none', 'A-1', 'none', 'B 2/ü']);
  });

  it('checks the text of the URL, where the wrapper checks what pipes made of it', async () => {
    @Controller()
    class ProductController {
      @Get('text/:id')
      @UseInterceptors(BloomInterceptor)
      @BloomGuarded('products')
      async text(@Param('id', ParseIntPipe) id: number) {
        return { id };
      }
    }
    const { get } = await start(ProductController);
    expect(await get('/text/7')).toEqual({ status: 200, body: { id: 7 } });
    expect(products.checked).toEqual(['7']);
  });

  it('takes the id from a function of the request', async () => {
    @Controller()
    class ProductController {
      @Get()
      @UseInterceptors(BloomInterceptor)
      @BloomGuarded('products', { param: (request: { query: { sku: string } }) => request.query.sku })
      async find() {
        return 'called';
      }

      @Get('failing/:id')
      @UseInterceptors(BloomInterceptor)
      @BloomGuarded('products', { param: (request: { none: { sku: string } }) => request.none.sku })
      async failing() {
        return 'called';
      }
    }
    const { get } = await start(ProductController);
    expect(await get('/?sku=A-1')).toEqual({ status: 200, body: 'called' });
    expect(await get('/?sku=none')).toEqual(NOT_FOUND);
    expect(await get('/')).toEqual(NOT_FOUND);
    expect(events).toEqual([
      expect.objectContaining({ type: 'invalid-id', method: 'ProductController.find', answered: true }),
    ]);
    events.length = 0;
    expect(await get('/failing/x')).toEqual({ status: 200, body: 'called' });
    expect(events).toEqual([
      {
        type: 'advice',
        filter: 'products',
        text: expect.stringContaining(
          'ProductController.failing ran without the filter: its option param threw TypeError',
        ),
        withoutId: expect.stringContaining('its option param threw TypeError, so the lookup was not checked'),
      },
      {
        type: 'invalid-id',
        filter: 'products',
        error: expect.any(TypeError),
        method: 'ProductController.failing',
      },
    ]);
  });

  it('answers with onAbsent and onUnknown, which get the request, through the interceptors before it', async () => {
    type Request = { params: { id: string } };
    @Controller()
    class ProductController {
      @Get('value/:id')
      @UseInterceptors(WrappingInterceptor, BloomInterceptor)
      @BloomGuarded('products', { onAbsent: async (request: Request) => ({ none: request.params.id }) })
      async value(@Param('id') id: string) {
        return { id };
      }

      @Get('gone/:id')
      @UseInterceptors(BloomInterceptor)
      @BloomGuarded('products', {
        onAbsent: () => {
          throw new HttpException('gone', 410);
        },
        onUnknown: 'unavailable',
      })
      async gone(@Param('id') id: string) {
        return { id };
      }
    }
    const { get } = await start(ProductController);
    expect(await get('/value/A-1')).toEqual({ status: 200, body: { data: { id: 'A-1' } } });
    expect(await get('/value/x')).toEqual({ status: 200, body: { data: { none: 'x' } } });
    expect((await get('/gone/x')).status).toBe(410);
    products.verdict = 'unknown';
    expect((await get('/value/x')).body).toEqual({ data: { id: 'x' } });
    expect((await get('/gone/A-1')).status).toBe(503);
  });

  it('leaves the status and headers of the route to Nest', async () => {
    @Controller()
    class ProductController {
      @Get(':id')
      @Header('x-shop', 'open')
      @UseInterceptors(BloomInterceptor)
      @BloomGuarded('products', { onAbsent: () => null })
      async find(@Param('id') id: string) {
        return { id };
      }
    }
    const { app: nest } = await start(ProductController);
    const response = await fetch(`${await nest.getUrl()}/x`);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-shop')).toBe('open');
  });
});
