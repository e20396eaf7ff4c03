import {
  Body,
  type CallHandler,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  HttpException,
  Inject,
  Injectable,
  type NestInterceptor,
  Param,
  ParseIntPipe,
  type PipeTransform,
  Post,
  Query,
  Req,
  Scope,
  SetMetadata,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { Reflector, REQUEST } from '@nestjs/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Observable, tap } from 'rxjs';
import { BloomGuarded } from '../../src/guard/index.js';
import { PLATFORMS } from '../support/nest-app.js';
import { GuardedRoutes, NOT_FOUND } from './support/guarded-routes.js';
import type { TestFilter } from './support/test-filter.js';

/** A decorator of somebody else that wraps the method and copies no metadata. */
function Timed(): MethodDecorator {
  return (_target, _key, descriptor) => {
    const method = descriptor.value as (...args: unknown[]) => unknown;
    const value = function (this: unknown, ...args: unknown[]) {
      return method.apply(this, args);
    };
    return { ...descriptor, value: value as never };
  };
}

const Path = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest().url.slice('/custom/'.length),
);

let roles: string[];

@Injectable()
class RoleRecorder implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(tap(() => roles.push(this.reflector.get('role', context.getHandler()))));
  }
}

describe.each(PLATFORMS)('@BloomGuarded on routes of %s', (platform) => {
  let routes: GuardedRoutes;
  let products: TestFilter;
  const start: GuardedRoutes['start'] = (...args) => routes.start(...args);

  beforeEach(() => {
    routes = new GuardedRoutes(platform);
    ({ products } = routes);
    roles = [];
  });

  afterEach(() => routes.close());

  it('answers 404 for an absent id and the method otherwise, in any order of decorators', async () => {
    @Controller()
    class ProductController {
      @Get('above/:sku')
      @BloomGuarded('products')
      async above(@Param('sku') sku: string) {
        return { sku };
      }

      @BloomGuarded('products')
      @Get('below/:sku')
      async below(@Param('sku') sku: string) {
        return { sku };
      }

      @Get('timed/:sku')
      @Timed()
      @BloomGuarded('products')
      async timed(@Param('sku') sku: string) {
        return { sku };
      }
    }
    const { get } = await start(ProductController);
    for (const route of ['above', 'below', 'timed']) {
      expect(await get(`/${route}/A-1`)).toEqual({ status: 200, body: { sku: 'A-1' } });
      expect(await get(`/${route}/none`)).toEqual(NOT_FOUND);
    }
    expect(products.checked).toHaveLength(6);
  });

  it('reads ids that are encoded in the URL', async () => {
    @Controller()
    class ProductController {
      @Get('products/:sku')
      @BloomGuarded('products')
      async find(@Param('sku') sku: string) {
        return { sku };
      }
    }
    const { get } = await start(ProductController);
    expect(await get(`/products/${encodeURIComponent('B 2/ü')}`)).toEqual({
      status: 200,
      body: { sku: 'B 2/ü' },
    });
    expect(await get(`/products/${encodeURIComponent('B 2/u')}`)).toEqual(NOT_FOUND);
  });

  it('checks what the pipes made of the parameter, after them', async () => {
    const trim: PipeTransform = { transform: (value: string) => value.trim() };
    @Controller()
    class ProductController {
      @Get('number/:id')
      @BloomGuarded('products')
      async byNumber(@Param('id', ParseIntPipe) id: number) {
        return { id };
      }

      @Get('trimmed/:sku')
      @BloomGuarded('products')
      @UsePipes(trim)
      async trimmed(@Param('sku') sku: string) {
        return { sku };
      }
    }
    const { get } = await start(ProductController);
    expect(await get('/number/007')).toEqual({ status: 200, body: { id: 7 } });
    expect(await get('/number/8')).toEqual(NOT_FOUND);
    expect((await get('/number/x')).status).toBe(400);
    expect(await get('/trimmed/%20A-1')).toEqual({ status: 200, body: { sku: 'A-1' } });
    // The key of a number: without the pipe it is '007'.
    expect(products.checked).toEqual(['7', '8', 'A-1']);
  });

  it('takes the id from a request that is the first argument, a DTO or a custom parameter', async () => {
    @Controller()
    class ProductController {
      @Get('request/:sku')
      @BloomGuarded('products', { id: (request: { params: { sku: string } }) => request.params.sku })
      async byRequest(@Req() _request: { params: { sku: string } }, @Param('sku') sku: string) {
        return { sku };
      }

      @Get('query')
      @BloomGuarded('products', { id: 'sku' })
      async byQuery(@Query() query: { sku: string }) {
        return query;
      }

      @Get('custom/:sku')
      @BloomGuarded('products')
      async byCustom(@Path() sku: string) {
        return { sku };
      }

      @Post('body')
      @HttpCode(200)
      @Header('x-found', 'yes')
      @BloomGuarded('products', { id: 'sku' })
      async byBody(@Body() body: { sku: string }) {
        return body;
      }
    }
    const { get } = await start(ProductController);
    const post = (sku: string) =>
      get('/body', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ sku }),
      });
    for (const path of ['/request/', '/query?sku=', '/custom/']) {
      expect(await get(`${path}A-1`)).toEqual({ status: 200, body: { sku: 'A-1' } });
      expect(await get(`${path}none`)).toEqual(NOT_FOUND);
    }
    expect(await post('A-1')).toEqual({ status: 200, body: { sku: 'A-1' } });
    expect(await post('none')).toEqual(NOT_FOUND);
  });

  it('keeps what interceptors, exception handling and other metadata see', async () => {
    @Controller()
    class ProductController {
      @SetMetadata('role', 'above')
      @BloomGuarded('products')
      @Get('above/:sku')
      @UseInterceptors(RoleRecorder)
      async above(@Param('sku') _sku: string) {}

      @UseInterceptors(RoleRecorder)
      @BloomGuarded('products')
      @SetMetadata('role', 'below')
      @Get('below/:sku')
      async below(@Param('sku') _sku: string) {}

      @Get('teapot/:sku')
      @BloomGuarded('products')
      async teapot(@Param('sku') _sku: string) {
        throw new HttpException('teapot', 418);
      }
    }
    const { get } = await start(ProductController);
    await get('/above/A-1');
    await get('/below/A-1');
    expect(roles).toEqual(['above', 'below']);
    expect(await get('/teapot/A-1')).toEqual({ status: 418, body: { statusCode: 418, message: 'teapot' } });
  });

  it('answers with onAbsent and onUnknown in place of 404 and the method', async () => {
    @Controller()
    class ProductController {
      private readonly label = 'no such product';

      @Get('gone/:sku')
      @BloomGuarded('products', {
        onAbsent(this: ProductController, sku: string) {
          throw new HttpException(`${this.label}: ${sku}`, 410);
        },
      })
      async gone(@Param('sku') _sku: string) {}

      @Get('empty/:sku')
      @BloomGuarded('products', { onAbsent: () => [], onUnknown: 'unavailable' })
      async empty(@Param('sku') sku: string) {
        return [sku];
      }
    }
    const { get } = await start(ProductController);
    expect(await get('/gone/x')).toEqual({
      status: 410,
      body: { statusCode: 410, message: 'no such product: x' },
    });
    expect(await get('/empty/x')).toEqual({ status: 200, body: [] });
    products.verdict = 'unknown';
    expect((await get('/empty/A-1')).status).toBe(503);
  });

  it('guards request-scoped controllers and inherited routes, once', async () => {
    class ReadController {
      @Get(':sku')
      @BloomGuarded('products')
      async find(@Param('sku') sku: string) {
        return { sku };
      }
    }
    @Controller({ path: 'scoped', scope: Scope.REQUEST })
    class ScopedController extends ReadController {
      constructor(@Inject(REQUEST) readonly request: object) {
        super();
      }
    }
    const { get } = await start(ScopedController);
    expect(await get('/scoped/A-1')).toEqual({ status: 200, body: { sku: 'A-1' } });
    expect(await get('/scoped/none')).toEqual(NOT_FOUND);
    expect(products.checked).toEqual(['A-1', 'none']);
  });

  it('serves many requests at once', async () => {
    @Controller()
    class ProductController {
      @Get(':sku')
      @BloomGuarded('products')
      async find(@Param('sku') sku: string) {
        return { sku };
      }
    }
    const { get } = await start(ProductController);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => get(i % 2 ? '/A-1' : `/none-${i}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, i) => (i % 2 ? 200 : 404)));
  });
});
