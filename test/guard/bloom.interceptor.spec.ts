import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  HttpException,
  Inject,
  Injectable,
  type NestInterceptor,
  Param,
  ParseIntPipe,
  type PipeTransform,
  Scope,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR, REQUEST } from '@nestjs/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { map, type Observable, of } from 'rxjs';
import type { BloomEvent } from '../../src/common/index.js';
import { BloomGuarded, BloomGuardRunner, BloomInterceptor } from '../../src/guard/index.js';
import { BloomService } from '../../src/service/index.js';
import { PLATFORMS, type RunningApp, startApp, testBloom } from './support/test-app.js';
import { TestFilter } from './support/test-filter.js';

const NOT_FOUND = { status: 404, body: { statusCode: 404, message: 'Not Found' } };

/** Answers everything, as a CacheInterceptor does on a hit. */
@Injectable()
class AnsweringInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, _next: CallHandler): Observable<unknown> {
    return of('cached');
  }
}

@Injectable()
class WrappingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data) => ({ data })));
  }
}

describe.each(PLATFORMS)('BloomInterceptor on %s', (platform) => {
  let products: TestFilter;
  let events: BloomEvent[];
  let app: RunningApp | undefined;

  beforeEach(() => {
    products = new TestFilter('products', ['A-1', 7, 'B 2/ü']);
    events = [];
  });

  afterEach(() => app?.close());

  async function start(
    controller: new (...args: never[]) => object,
    providers: NonNullable<Parameters<typeof startApp>[1]['providers']> = [],
    prepare?: Parameters<typeof startApp>[2],
  ): Promise<RunningApp> {
    const metadata = {
      imports: [testBloom({ filters: [products], events })],
      controllers: [controller],
      providers,
    };
    app = await startApp(platform, metadata, prepare);
    return app;
  }

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

      @BloomGuarded('products', { id: 'sku' })
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
      @BloomGuarded('products', { id: (request: { query: { sku: string } }) => request.query.sku })
      async find() {
        return 'called';
      }

      @Get('failing/:id')
      @UseInterceptors(BloomInterceptor)
      @BloomGuarded('products', { id: (request: { none: { sku: string } }) => request.none.sku })
      async failing() {
        return 'called';
      }
    }
    const { get } = await start(ProductController);
    expect(await get('/?sku=A-1')).toEqual({ status: 200, body: 'called' });
    expect(await get('/?sku=none')).toEqual(NOT_FOUND);
    expect(await get('/')).toEqual({ status: 200, body: 'called' });
    expect(events).toEqual([]);
    expect(await get('/failing/x')).toEqual({ status: 200, body: 'called' });
    expect(events).toEqual([{ type: 'invalid-id', filter: 'products', error: expect.any(TypeError) }]);
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

  it('checks once when put on the controller, on both, or as an instance, a subclass or a child class', async () => {
    @Injectable()
    class OwnInterceptor extends BloomInterceptor {}

    @UseInterceptors(BloomInterceptor)
    class GuardedController {
      @Get('class/:id')
      @BloomGuarded('products')
      async onClass(@Param('id') id: string) {
        return { id };
      }

      @Get('both/:id')
      @UseInterceptors(BloomInterceptor)
      @BloomGuarded('products')
      async onBoth(@Param('id') id: string) {
        return { id };
      }
    }
    @Controller()
    class ChildController extends GuardedController {}

    @Controller()
    class ProductController {
      @Get('subclass/:id')
      @UseInterceptors(OwnInterceptor, AnsweringInterceptor)
      @BloomGuarded('products')
      async subclass(@Param('id') id: string) {
        return { id };
      }

      @Get('instance/:id')
      @UseInterceptors(
        new BloomInterceptor(
          new BloomGuardRunner({ service: serviceOf(new TestFilter('products', ['instance-only'])) }),
        ),
      )
      @BloomGuarded('products')
      async instance(@Param('id') id: string) {
        return { id };
      }
    }
    app = await startApp(platform, {
      imports: [testBloom({ filters: [products] })],
      controllers: [ChildController, ProductController],
    });
    for (const route of ['class', 'both', 'subclass']) {
      products.checked.length = 0;
      const body = route === 'subclass' ? 'cached' : { id: 'A-1' };
      expect(await app.get(`/${route}/A-1`)).toEqual({ status: 200, body });
      expect(await app.get(`/${route}/x`)).toEqual(NOT_FOUND);
      expect(products.checked).toEqual(['A-1', 'x']);
    }
    products.checked.length = 0;
    expect((await app.get('/instance/instance-only')).status).toBe(200);
    expect((await app.get('/instance/A-1')).status).toBe(404);
    expect(products.checked).toEqual([]);
  });

  @Controller()
  class GlobalController {
    @Get('plain/:sku')
    @BloomGuarded('products')
    async plain(@Param('sku') sku: string) {
      return { sku };
    }

    @Get('declared/:id')
    @UseInterceptors(BloomInterceptor)
    @BloomGuarded('products')
    async declared(@Param('id') id: string) {
      return { sku: id };
    }
  }

  it('leaves a check to the wrapper when it is only registered globally, and checks once when declared too', async () => {
    const { get } = await start(GlobalController, [{ provide: APP_INTERCEPTOR, useClass: BloomInterceptor }]);
    for (const route of ['plain', 'declared']) {
      products.checked.length = 0;
      expect(await get(`/${route}/A-1`)).toEqual({ status: 200, body: { sku: 'A-1' } });
      expect(await get(`/${route}/x`)).toEqual(NOT_FOUND);
      expect(products.checked).toEqual(['A-1', 'x']);
    }
  });

  it('does the same with useGlobalInterceptors', async () => {
    const { get } = await start(GlobalController, [], (nest) =>
      nest.useGlobalInterceptors(new BloomInterceptor(nest.get(BloomGuardRunner))),
    );
    expect(await get('/plain/A-1')).toEqual({ status: 200, body: { sku: 'A-1' } });
    expect(await get('/plain/x')).toEqual(NOT_FOUND);
    expect(products.checked).toEqual(['A-1', 'x']);
  });

  it('guards request-scoped controllers, and checks two guards of one route', async () => {
    const tenants = new TestFilter('tenants', ['t1']);
    @Controller({ scope: Scope.REQUEST })
    @UseInterceptors(BloomInterceptor)
    class ProductController {
      constructor(@Inject(REQUEST) readonly request: object) {}

      @Get(':tenant/:sku')
      @BloomGuarded('tenants', { id: 'tenant', onAbsent: () => 'no tenant' })
      @BloomGuarded('products', { id: 'sku' })
      async find(@Param('sku') sku: string) {
        return { sku };
      }
    }
    app = await startApp(platform, {
      imports: [testBloom({ filters: [products, tenants] })],
      controllers: [ProductController],
    });
    expect(await app.get('/t1/A-1')).toEqual({ status: 200, body: { sku: 'A-1' } });
    expect(await app.get('/t1/x')).toEqual(NOT_FOUND);
    expect((await app.get('/t2/A-1')).body).toBe('no tenant');
    expect([...tenants.checked, ...products.checked]).toEqual(['t1', 't1', 't2', 'A-1', 'x']);
  });

  it('never leaves a guard to nobody: overrides with super call, and methods wrapped by others', async () => {
    const Bare = (): MethodDecorator => (_target, _key, descriptor) => {
      const method = descriptor.value as (...args: unknown[]) => unknown;
      descriptor.value = function (this: unknown, ...args: unknown[]) {
        return method.apply(this, args);
      } as never;
    };
    class ParentController {
      @Get('parent/:id')
      @BloomGuarded('products')
      async find(@Param('id') id: string) {
        return { id };
      }
    }
    @Controller()
    @UseInterceptors(BloomInterceptor)
    class ProductController extends ParentController {
      @Get('override/:id')
      override async find(@Param('id') id: string) {
        return super.find(id);
      }

      @Get('wrapped/:id')
      @Bare()
      @BloomGuarded('products')
      async wrapped(@Param('id') id: string) {
        return { id };
      }

      @BloomGuarded('products')
      async inner(id: string) {
        return { id };
      }

      @Get('inner/:id')
      async outer(@Param('id') id: string) {
        return (await this.inner(id)) ?? 'none';
      }
    }
    const { get } = await start(ProductController);
    expect(await get('/override/x')).toEqual(NOT_FOUND);
    expect(await get('/wrapped/x')).toEqual(NOT_FOUND);
    expect(await get('/inner/x')).toEqual({ status: 200, body: 'none' });
    expect(products.checked).toEqual(['x', 'x', 'x']);
    expect(await get('/override/A-1')).toEqual({ status: 200, body: { id: 'A-1' } });
    expect(await get('/wrapped/A-1')).toEqual({ status: 200, body: { id: 'A-1' } });
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

function serviceOf(filter: TestFilter): BloomService {
  const service = new BloomService(() => {});
  service.register(filter);
  return service;
}
