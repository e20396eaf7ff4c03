import { Controller, Get, Inject, Injectable, Param, Scope, UseInterceptors } from '@nestjs/common';
import { APP_INTERCEPTOR, REQUEST } from '@nestjs/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BloomGuarded, BloomGuardRunner, BloomInterceptor } from '../../src/guard/index.js';
import { BloomService } from '../../src/service/index.js';
import { PLATFORMS } from '../support/nest-app.js';
import { AnsweringInterceptor } from './support/answering.interceptor.js';
import { GuardedRoutes, NOT_FOUND } from './support/guarded-routes.js';
import { TestFilter } from './support/test-filter.js';

describe.each(PLATFORMS)('BloomInterceptor on %s, wherever it is put', (platform) => {
  let routes: GuardedRoutes;
  let products: TestFilter;
  const start: GuardedRoutes['start'] = (...args) => routes.start(...args);

  beforeEach(() => {
    routes = new GuardedRoutes(platform);
    ({ products } = routes);
  });

  afterEach(() => routes.close());

  it('checks once for each of two interceptors that take turns', async () => {
    @Injectable()
    class Naming extends BloomInterceptor {
      protected override filterOf(): string {
        return 'products';
      }
    }
    @Injectable()
    class OtherNaming extends Naming {}

    @Controller()
    @UseInterceptors(Naming, OtherNaming)
    class Routes {
      @Get(':id')
      @UseInterceptors(Naming, OtherNaming)
      async find(@Param('id') id: string) {
        return { id };
      }
    }
    const { get } = await start(Routes);
    expect(await get('/A-1')).toEqual({ status: 200, body: { id: 'A-1' } });
    expect(products.checked).toEqual(['A-1', 'A-1']);
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
    const { get } = await start([ChildController, ProductController]);
    for (const route of ['class', 'both', 'subclass']) {
      products.checked.length = 0;
      const body = route === 'subclass' ? 'cached' : { id: 'A-1' };
      expect(await get(`/${route}/A-1`)).toEqual({ status: 200, body });
      expect(await get(`/${route}/x`)).toEqual(NOT_FOUND);
      expect(products.checked).toEqual(['A-1', 'x']);
    }
    products.checked.length = 0;
    expect((await get('/instance/instance-only')).status).toBe(200);
    expect((await get('/instance/A-1')).status).toBe(404);
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
    const { get } = await start(GlobalController, {
      providers: [{ provide: APP_INTERCEPTOR, useClass: BloomInterceptor }],
    });
    for (const route of ['plain', 'declared']) {
      products.checked.length = 0;
      expect(await get(`/${route}/A-1`)).toEqual({ status: 200, body: { sku: 'A-1' } });
      expect(await get(`/${route}/x`)).toEqual(NOT_FOUND);
      expect(products.checked).toEqual(['A-1', 'x']);
    }
  });

  it('does the same with useGlobalInterceptors', async () => {
    const { get } = await start(GlobalController, {
      prepare: (nest) => nest.useGlobalInterceptors(new BloomInterceptor(nest.get(BloomGuardRunner))),
    });
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
      @BloomGuarded('tenants', { param: 'tenant', onAbsent: () => 'no tenant' })
      @BloomGuarded('products', { param: 'sku' })
      async find(@Param('sku') sku: string) {
        return { sku };
      }
    }
    const { get } = await start(ProductController, { others: [tenants] });
    expect(await get('/t1/A-1')).toEqual({ status: 200, body: { sku: 'A-1' } });
    expect(await get('/t1/x')).toEqual(NOT_FOUND);
    expect((await get('/t2/A-1')).body).toBe('no tenant');
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
});

function serviceOf(filter: TestFilter): BloomService {
  const service = new BloomService(() => {});
  service.register(filter);
  return service;
}
