import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { defaultIfEmpty, EMPTY, NEVER, type Observable, of, Subject, takeUntil } from 'rxjs';
import { BloomGuarded, BloomInterceptor } from '../../src/index.js';
import { eventually } from '../support/eventually.js';
import { PLATFORMS } from '../support/nest-app.js';
import { giveBudget } from './support/budgeted-filter.js';
import { GuardedRoutes } from './support/guarded-routes.js';
import { TestFilter } from './support/test-filter.js';

let leave: Subject<void>;
let streams: Record<string, Observable<unknown>>;
let runs: string[];

/** A client who leaves when `leave` says so. */
@Injectable()
class Leaving implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(takeUntil(leave), defaultIfEmpty('left'));
  }
}

@Controller()
class Routes {
  @Get('twice/:sku/:part')
  @UseInterceptors(BloomInterceptor)
  @BloomGuarded('products', { param: 'sku' })
  @BloomGuarded('products', { param: 'part' })
  async twice(): Promise<unknown> {
    runs.push('twice');
    return streams['twice'];
  }

  @Get('two/:sku/:order')
  @UseInterceptors(BloomInterceptor)
  @BloomGuarded('products', { param: 'sku' })
  @BloomGuarded('orders', { param: 'order' })
  async two(): Promise<unknown> {
    runs.push('two');
    return streams['two'];
  }

  @Get('none/:sku/:order')
  @UseInterceptors(BloomInterceptor)
  @BloomGuarded('products', { param: 'sku' })
  @BloomGuarded('orders', { param: 'order', onAbsent: () => 'none' })
  async none(): Promise<unknown> {
    runs.push('none');
    return null;
  }

  @Get('left/:sku')
  @UseInterceptors(Leaving, BloomInterceptor)
  @BloomGuarded('products', { param: 'sku' })
  async left(): Promise<unknown> {
    runs.push('left');
    return streams['left'];
  }
}

describe.each(PLATFORMS)('Places of a route of %s in a budget', (platform) => {
  let routes: GuardedRoutes;
  let orders: TestFilter;
  let url: string;
  const get = async (path: string) => (await fetch(`${url}/${path}`)).status;
  beforeEach(async () => {
    leave = new Subject();
    runs = [];
    streams = { twice: of('row'), two: of('row'), left: NEVER };
    routes = new GuardedRoutes(platform);
    orders = new TestFilter('orders', []);
    const { app } = await routes.start(Routes, { others: [orders] });
    url = await app.getUrl();
    routes.products.verdict = 'unknown';
    orders.verdict = 'unknown';
  });
  afterEach(() => routes.close());

  it('are one for all guards of the route, by the same filter and by others', async () => {
    const products = giveBudget(routes.products, { concurrent: 1, queue: 0 });
    const other = giveBudget(orders, { concurrent: 1, queue: 0 });
    for (const path of ['twice/a/b', 'twice/c/d', 'two/e/f'])
      expect([path, await get(path)]).toEqual([path, 200]);
    const passed = [products, other].map((budget) => budget.metrics().passed);
    expect(passed[0]! + passed[1]!).toBe(3);
    for (const budget of [products, other])
      expect(budget.metrics()).toMatchObject({ running: 0, hinted: 0, refused: 0 });
  });

  it('are not taken where another guard of the route has answered', async () => {
    const budget = giveBudget(routes.products, { concurrent: 1, queue: 0 });
    orders.verdict = 'absent';
    for (let i = 0; i < 3; i++) {
      expect(await get('two/a/b')).toBe(404);
      expect(await get('none/a/b')).toBe(200);
    }
    expect(runs).toEqual([]);
    expect(budget.metrics()).toMatchObject({ running: 0, refused: 0, passed: 0 });
  });

  it('are not taken by a client who leaves while the filter is asked', async () => {
    const budget = giveBudget(routes.products, { concurrent: 1, queue: 0 });
    let answer = () => {};
    routes.products.checkKey = () => new Promise((resolve) => (answer = () => resolve('error')));
    const before = answer;
    const response = get('left/a');
    await eventually('the filter is asked', () => answer !== before);
    leave.next();
    expect(await response).toBe(200);
    answer();
    await new Promise(setImmediate);
    expect(runs).toEqual([]);
    expect(budget.metrics()).toMatchObject({ running: 0 });
  });

  it('are not kept by a client who leaves while he waits, or while the route runs', async () => {
    const budget = giveBudget(routes.products, { concurrent: 1, queue: 1, waitMs: 60_000 });
    const first = get('left/a');
    await eventually('the route runs', () => runs.length === 1);
    const second = get('left/b');
    await eventually('the next one waits', () => budget.metrics().waiting === 1);
    leave.next();
    expect(await Promise.all([first, second])).toEqual([200, 200]);
    await eventually('all places are free', () => budget.metrics().running === 0);
    expect(budget.metrics()).toMatchObject({ waiting: 0, refused: 0 });
    expect(runs).toEqual(['left']);
  });

  it('tell the load once of a stream of several values, of one without a value, and of one that is left', async () => {
    const { load } = giveBudget(routes.products, { concurrent: 1, queue: 0 });
    const begun = jest.spyOn(load, 'begin');
    const ended = jest.spyOn(load, 'end');
    const unjudged = jest.spyOn(load, 'endUnjudged');
    const ends = () => [begun, ended, unjudged].map(({ mock }) => mock.calls.length);
    streams['twice'] = of('row', 'other row');
    await get('twice/a/b');
    expect(unjudged.mock.calls.map(([, , isFound]) => isFound)).toEqual([true]);
    streams['twice'] = EMPTY;
    await get('twice/c/d');
    expect(unjudged.mock.calls.map(([, , isFound]) => isFound)).toEqual([true, undefined]);
    routes.products.verdict = 'maybe';
    streams['twice'] = of('row', 'other row');
    await get('twice/e/f');
    expect(ends()).toEqual([2, 2, 2]);
    const left = get('left/g');
    await eventually('the route runs', () => runs.includes('left'));
    expect(ends()).toEqual([3, 2, 2]);
    leave.next();
    await left;
    expect(ends()).toEqual([3, 3, 2]);
  });
});
