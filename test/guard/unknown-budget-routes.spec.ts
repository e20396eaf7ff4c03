import type { ServerResponse } from 'node:http';
import { Controller, Get, Inject, Injectable, Param, Res, UseInterceptors } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Observable, Subject } from 'rxjs';
import { BloomGuarded, BloomInterceptor } from '../../src/index.js';
import { eventually } from '../support/eventually.js';
import { PLATFORMS } from '../support/nest-app.js';
import { giveBudget, HeldCalls } from './support/budgeted-filter.js';
import { GuardedRoutes } from './support/guarded-routes.js';

let calls: HeldCalls;

@Injectable()
class Products {
  @BloomGuarded('products')
  async find(sku: string): Promise<unknown> {
    return calls.hold(sku);
  }
}

@Controller()
class Routes {
  constructor(@Inject(Products) private readonly products: Products) {}

  @Get('guarded/:sku')
  @BloomGuarded('products')
  async guarded(@Param('sku') sku: string): Promise<unknown> {
    return calls.hold(sku);
  }

  @Get('intercepted/:sku')
  @UseInterceptors(BloomInterceptor)
  @BloomGuarded('products', { param: 'sku' })
  async intercepted(@Param('sku') sku: string): Promise<unknown> {
    return calls.hold(sku);
  }

  @Get('stream/:sku')
  @UseInterceptors(BloomInterceptor)
  @BloomGuarded('products', { param: 'sku' })
  async stream(): Promise<Observable<unknown>> {
    return streams[0]!;
  }

  @Get('begun/:sku')
  async begun(@Param('sku') sku: string, @Res() response: ServerResponse): Promise<void> {
    response.write('begun');
    headersSet = jest.spyOn(response, 'setHeader');
    await this.products.find(sku);
  }

  @Get('found/:sku')
  async found(@Param('sku') sku: string): Promise<unknown> {
    return this.products.find(sku);
  }
}

let streams: Subject<unknown>[];
let headersSet: jest.SpiedFunction<ServerResponse['setHeader']>;

describe.each(PLATFORMS)('Routes of %s that the filter cannot judge', (platform) => {
  let routes: GuardedRoutes;
  let url: string;
  beforeEach(async () => {
    calls = new HeldCalls();
    streams = [new Subject()];
    routes = new GuardedRoutes(platform);
    const { app } = await routes.start(Routes, { providers: [Products] });
    url = await app.getUrl();
    routes.products.verdict = 'unknown';
  });
  afterEach(async () => {
    calls.endAll();
    await routes.close();
  });

  it('answer 503 and when to come again, for the guard of the route and of what it calls', async () => {
    const budget = giveBudget(routes.products, { concurrent: 1, queue: 0 });
    const first = fetch(`${url}/guarded/a`);
    await eventually('the route runs', () => calls.held.length === 1);
    for (const path of ['guarded', 'intercepted', 'found']) {
      const response = await fetch(`${url}/${path}/b`);
      expect([path, response.status, response.headers.get('retry-after')]).toEqual([path, 503, '5']);
      expect(await response.json()).toEqual({ statusCode: 503, message: 'Service Unavailable' });
    }
    calls.endAll({ sku: 'a' });
    expect(await (await first).json()).toEqual({ sku: 'a' });
    expect(budget.metrics()).toMatchObject({ running: 0, refused: 3 });
  });

  if (platform === 'express')
    it('end an answer that has begun, and set no header of it', async () => {
      giveBudget(routes.products, { concurrent: 1, queue: 0 });
      const first = fetch(`${url}/guarded/a`);
      await eventually('the route runs', () => calls.held.length === 1);
      expect(await (await fetch(`${url}/begun/b`)).text()).toBe('begun');
      expect(headersSet).not.toHaveBeenCalled();
      calls.endAll({ sku: 'a' });
      await first;
    });

  it('give their places back behind the interceptor, by a result, an error and the end of a stream', async () => {
    const budget = giveBudget(routes.products, { concurrent: 1, queue: 0 });
    const first = fetch(`${url}/intercepted/a`);
    await eventually('the route runs', () => calls.held.length === 1);
    calls.endAll({ sku: 'a' });
    expect((await first).status).toBe(200);
    expect(budget.metrics().running).toBe(0);
    const second = fetch(`${url}/intercepted/b`);
    await eventually('the route runs', () => calls.held.length === 1);
    calls.held.shift()!.fail(new Error('no connection'));
    expect((await second).status).toBe(500);
    expect(budget.metrics().running).toBe(0);
    const third = fetch(`${url}/stream/c`);
    await eventually('the stream is read', () => streams[0]!.observed);
    expect(budget.metrics().running).toBe(1);
    streams[0]!.next({ sku: 'c' });
    streams[0]!.complete();
    expect((await third).status).toBe(200);
    expect(budget.metrics()).toMatchObject({ running: 0, passed: 3 });
  });
});
