import type { ServerResponse } from 'node:http';
import {
  type CanActivate,
  Controller,
  Get,
  type INestApplication,
  Injectable,
  Param,
  type Type,
  UnauthorizedException,
  UseGuards,
  UseInterceptors,
  VersioningType,
} from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  BloomConfigError,
  BloomGuarded,
  type BloomGuardedOptions,
  BloomInterceptor,
} from '../../src/index.js';
import { PLATFORMS } from '../support/nest-app.js';
import { giveBudget } from './support/budgeted-filter.js';
import { GuardedRoutes, NOT_FOUND } from './support/guarded-routes.js';

let guarded: number;
let runs: string[];

/** Refuses requests without a name. */
@Injectable()
class Login implements CanActivate {
  canActivate(context: { switchToHttp(): { getRequest(): { headers: object } } }): boolean {
    guarded++;
    if ('x-user' in context.switchToHttp().getRequest().headers) return true;
    throw new UnauthorizedException();
  }
}

@Controller('products')
@UseGuards(Login)
@UseInterceptors(BloomInterceptor)
class Products {
  @Get('late/:sku')
  @BloomGuarded('products', { param: 'sku' })
  async late(@Param('sku') sku: string): Promise<unknown> {
    runs.push(sku);
    return { sku };
  }

  @Get([':sku', 'also/:sku'])
  @BloomGuarded('products', { param: 'sku', early: true })
  async find(@Param('sku') sku: string): Promise<unknown> {
    runs.push(sku);
    return sku === 'gone' ? null : { sku };
  }
}

const USER = { headers: { 'x-user': 'someone' } };

describe.each(PLATFORMS)('Early answers of %s', (platform) => {
  let routes: GuardedRoutes;
  beforeEach(() => {
    guarded = 0;
    runs = [];
    routes = new GuardedRoutes(platform);
  });
  afterEach(() => routes.close());

  it('are those of the route, before its guards and after middleware, with a prefix and a version in the path', async () => {
    const { app, get } = await routes.start(Products, {
      prepare: async (made) => {
        // Before that, Fastify of Nest 10 takes no middleware.
        await made.getHttpAdapter().init?.();
        made.setGlobalPrefix('api');
        made.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
        made.use((_: unknown, response: ServerResponse, next: () => void) => {
          response.setHeader('x-middleware', 'has run');
          next();
        });
      },
    });
    for (const path of ['none', 'also/none'])
      expect(await get(`/api/v1/products/${path}`)).toEqual(NOT_FOUND);
    expect(guarded).toBe(0);
    expect(await get('/api/v1/products/late/none', USER)).toEqual(NOT_FOUND);
    const url = `${await app.getUrl()}/api/v1/products`;
    const [early, late] = [await fetch(`${url}/none`), await fetch(`${url}/late/none`, USER)];
    // Express tags what it sends; an early answer of Express has no tag, as no client revalidates a 404.
    const isOther = (name: string) => name === 'date' || (platform === 'express' && name === 'etag');
    const headers = ({ headers }: Response) => [...headers].filter(([name]) => !isOther(name));
    expect(headers(early)).toEqual(headers(late));
    expect(early.headers.get('x-middleware')).toBe('has run');
    const head = await fetch(`${url}/none`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([404, '']);
    expect(runs).toEqual([]);
    expect(routes.products.guarding.counts()).toMatchObject({ absent: 6, maybe: 0 });
    expect(routes.events).toEqual([]);
  });

  it('leave ids that may exist to the route, which judges them no more', async () => {
    const { get } = await routes.start(Products);
    expect((await get('/products/A-1')).status).toBe(401);
    expect(await get('/products/A-1', USER)).toEqual({ status: 200, body: { sku: 'A-1' } });
    expect(await get('/products/B%202%2F%C3%BC', USER)).toEqual({ status: 200, body: { sku: 'B 2/ü' } });
    expect(routes.products.guarding.counts()).toMatchObject({ absent: 0, maybe: 3, foundNothing: 0 });
    routes.products.verdict = 'maybe';
    await get('/products/gone', USER);
    expect(routes.products.guarding.counts()).toMatchObject({ maybe: 4, foundNothing: 1 });
  });

  it('leave what the filter does not know to the route, which takes a place for it', async () => {
    const { get } = await routes.start(Products);
    const budget = giveBudget(routes.products, { concurrent: 1, queue: 0 });
    routes.products.verdict = 'unknown';
    expect((await get('/products/x')).status).toBe(401);
    expect(budget.metrics()).toMatchObject({ passed: 0, running: 0 });
    expect((await get('/products/x', USER)).status).toBe(200);
    expect(budget.metrics()).toMatchObject({ passed: 1, running: 0 });
    expect(routes.products.guarding.counts()).toMatchObject({ unknown: 2 });
  });

  it('wait for a filter that has to ask, and go on where it fails', async () => {
    const { get } = await routes.start(Products);
    const { products } = routes;
    products.checkKey = async () => 'absent';
    expect(await get('/products/x')).toEqual(NOT_FOUND);
    products.checkKey = async () => 'maybe';
    expect((await get('/products/x', USER)).status).toBe(200);
    products.checkKey = () => {
      throw new Error('broken');
    };
    expect((await get('/products/x')).status).toBe(401);
    expect(routes.events).toMatchObject([
      { type: 'guard-error', filter: 'products', method: 'Products.find', operation: 'early' },
    ]);
  });

  it('are not given in shadow mode, nor where the guard is off', async () => {
    const { get } = await routes.start(Products);
    for (const mode of ['shadow', 'off'] as const) {
      routes.products.guarding.mode = mode;
      expect((await get('/products/none', USER)).status).toBe(200);
    }
    expect(runs).toEqual(['none', 'none']);
    expect(routes.products.guarding.counts()).toMatchObject({ absent: 1 });
  });

  it('need a route that its path alone chooses, with the parameter', async () => {
    const version = (app: INestApplication) => {
      app.enableVersioning({ type: VersioningType.HEADER, header: 'v', defaultVersion: '1' });
    };
    await expect(routes.start(Products, { prepare: version })).rejects.toThrow(
      'got a version outside the path',
    );
    await expect(new GuardedRoutes(platform).start(WithHost)).rejects.toThrow('got a host');
    await expect(new GuardedRoutes(platform).start(Extended)).rejects.toThrow('extends BloomInterceptor');
    await expect(new GuardedRoutes(platform).start(OtherParam)).rejects.toThrow("got no parameter ':sku'");
    await expect(new GuardedRoutes(platform).start([Inherits, AlsoInherits])).rejects.toThrow(
      'several controllers',
    );
    await expect(new GuardedRoutes(platform).start(LongerParam)).rejects.toThrow("got no parameter ':sku'");
    const others = { defaults: { onAbsent: 'null' } } as const;
    await expect(new GuardedRoutes(platform).start(Products, others)).rejects.toThrow('another onAbsent');
    await expect(new GuardedRoutes(platform).start(Unchecked)).rejects.toThrow('reads the option early');
  });
});

it.each<BloomGuardedOptions>([
  { early: true, param: () => 'x' },
  { early: true, id: () => 'x' },
  { early: true, onAbsent: 'null' },
])('The decorator refuses %j', (options) => {
  expect(() => routeClass(options)).toThrow(BloomConfigError);
});

@Controller({ path: 'products', host: 'shop.example' })
@UseInterceptors(BloomInterceptor)
class WithHost {
  @Get(':sku')
  @BloomGuarded('products', { param: 'sku', early: true })
  async find(): Promise<unknown> {
    return {};
  }
}

class Own extends BloomInterceptor {}

@Controller('products')
@UseInterceptors(Own)
class Extended {
  @Get(':sku')
  @BloomGuarded('products', { param: 'sku', early: true })
  async find(): Promise<unknown> {
    return {};
  }
}

@Controller('products')
@UseInterceptors(BloomInterceptor)
class OtherParam {
  @Get(':id')
  @BloomGuarded('products', { param: 'sku', early: true })
  async find(): Promise<unknown> {
    return {};
  }
}

@Controller('products')
@UseInterceptors(BloomInterceptor)
class LongerParam {
  @Get(':skus')
  @BloomGuarded('products', { param: 'sku', early: true })
  async find(): Promise<unknown> {
    return {};
  }
}

@Controller('one')
class Inherits extends Products {}
@Controller('two')
class AlsoInherits extends Products {}

@Controller('products')
class Unchecked {
  @Get(':sku')
  @BloomGuarded('products', { early: true, id: 'sku' })
  async find(@Param() _given: { sku: string }): Promise<unknown> {
    return {};
  }
}

function routeClass(options: BloomGuardedOptions): Type {
  class Routes {
    @BloomGuarded('products', options)
    async find(_id: string): Promise<unknown> {
      return {};
    }
  }
  return Routes;
}
