import { Controller, Get, Param, UseInterceptors } from '@nestjs/common';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  BloomConfigError,
  type BloomEvent,
  BloomGuarded,
  BloomInterceptor,
  BloomModule,
  BloomService,
  scopedId,
} from '../../src/index.js';
import type { Type } from '@nestjs/common';
import { PLATFORMS, type RunningApp, startApp } from '../support/nest-app.js';
import { NOT_FOUND } from './support/guarded-routes.js';

interface TenantRequest {
  readonly headers: Readonly<Record<string, string>>;
}

let runs: string[];

@Controller(':tenant/orders')
@UseInterceptors(BloomInterceptor)
class Orders {
  @Get(':no')
  @BloomGuarded('orders', { param: 'no', scope: 'tenant', early: true, onAbsent: 'not-found' })
  async early(@Param('tenant') tenant: string, @Param('no') no: string): Promise<string[]> {
    runs.push(no);
    return [tenant, no];
  }

  @Get('late/:id')
  @BloomGuarded('orders', {
    param: 'id',
    scope: (request: TenantRequest) => request.headers['x-tenant']!,
    onAbsent: 'not-found',
  })
  async late(@Param('id') id: string): Promise<string[]> {
    runs.push(id);
    return [id];
  }

  @Get('wrong/:id')
  @BloomGuarded('orders', { param: 'id', scope: 'nobody', onAbsent: 'not-found' })
  async wrong(@Param('id') id: string): Promise<string[]> {
    runs.push(id);
    return [id];
  }
}

describe.each(PLATFORMS)('A route of a tenant, on %s', (platform) => {
  let app: RunningApp | undefined;
  let events: BloomEvent[];
  afterEach(() => app?.close());

  async function start(controller: Type): Promise<void> {
    events = [];
    runs = [];
    const filters = [
      { name: 'orders', scoped: true, capacity: 100, create: 'first-start', audit: false },
    ] as const;
    const imports = [BloomModule.forRoot({ filters, onEvent: (event) => events.push(event) })];
    app = await startApp(platform, { imports, controllers: [controller] });
  }

  it('is answered by its parameters, before it runs', async () => {
    await start(Orders);
    await app!.app.get(BloomService).filter('orders').add(scopedId('acme', 7));
    expect(await app!.get('/acme/orders/7')).toEqual({ status: 200, body: ['acme', '7'] });
    for (const path of ['/acme/orders/8', '/acm/orders/7', '/acme%3A7/orders/7', '/ac/orders/me%3A7'])
      expect(await app!.get(path)).toEqual(NOT_FOUND);
    expect(runs).toEqual(['7']);
    const of = (tenant: string) => ({ headers: { 'x-tenant': tenant } });
    expect(await app!.get('/any/orders/late/7', of('acme'))).toEqual({ status: 200, body: ['7'] });
    expect(await app!.get('/acme/orders/late/7', of('other'))).toEqual(NOT_FOUND);
    expect(runs).toEqual(['7', '7']);
    expect(events.filter(({ type }) => type === 'invalid-id')).toEqual([]);
  });

  it('passes where the tenant is not known', async () => {
    await start(Orders);
    expect(await app!.get('/acme/orders/late/7')).toEqual({ status: 200, body: ['7'] });
    expect(await app!.get('/acme/orders/wrong/7')).toEqual({ status: 200, body: ['7'] });
    expect(events.filter(({ type }) => type === 'invalid-id')).toMatchObject([
      { error: { message: expect.stringContaining('Expected a scope') } },
      { error: { message: expect.stringContaining("no parameter 'nobody'") } },
    ]);
  });

  it('does not start with a function of its arguments, which the interceptor does not have', async () => {
    @Controller('orders')
    @UseInterceptors(BloomInterceptor)
    class ByArguments {
      @Get(':tenant/:id')
      @BloomGuarded('orders', { id: (_, id: string) => id, scope: (tenant: string) => tenant })
      async find(@Param('tenant') _tenant: string, @Param('id') _id: string): Promise<null> {
        return null;
      }
    }
    await expect(start(ByArguments)).rejects.toThrow(
      /on ByArguments.find: BloomInterceptor has no arguments for a function/,
    );
  });

  it('does not start early where its path has no tenant', async () => {
    @Controller('orders')
    @UseInterceptors(BloomInterceptor)
    class WithoutTenant {
      @Get(':id')
      @BloomGuarded('orders', { param: 'id', scope: 'tenant', early: true })
      async find(@Param('id') _id: string): Promise<null> {
        return null;
      }
    }
    await expect(start(WithoutTenant)).rejects.toThrow(/got no parameter ':tenant'/);
    expect(() =>
      BloomGuarded('orders', { param: 'id', scope: () => 'a', early: true })(
        WithoutTenant.prototype,
        'other',
        { value: async () => null } as never,
      ),
    ).toThrow(BloomConfigError);
  });
});
