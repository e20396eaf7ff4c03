import { Controller, Get, Injectable, Param, Query, UseInterceptors } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BloomIdError, type BloomEvent } from '../../src/common/index.js';
import { BloomConfigError, BloomGuarded, BloomInterceptor } from '../../src/index.js';
import { PLATFORMS } from '../support/nest-app.js';
import type { Anything } from './support/anything.js';
import { GuardedProviders } from './support/guarded-providers.js';
import { GuardedRoutes, NOT_FOUND } from './support/guarded-routes.js';

let reached: unknown[];

@Controller()
class ProductController {
  @Get('default')
  @BloomGuarded('products')
  async byDefault(@Query('id') id: Anything) {
    return this.reach(id);
  }

  @Get('property')
  @BloomGuarded('products', { id: 'id' })
  async byProperty(@Query() query: { id?: Anything }) {
    return this.reach(query.id);
  }

  @Get('pass')
  @BloomGuarded('products', { onInvalid: 'pass', onUnknown: 'unavailable' })
  async pass(@Query('id') id: Anything) {
    return this.reach(id);
  }

  @Get('answer')
  @BloomGuarded('products', { onInvalid: (id: unknown) => ({ refused: typeof id }) })
  async answer(@Query('id') id: Anything) {
    return this.reach(id);
  }

  @Get('before')
  @UseInterceptors(BloomInterceptor)
  @BloomGuarded('products', { param: (request: { query: { id: never } }) => request.query.id })
  async before(@Query('id') id: Anything) {
    return this.reach(id);
  }

  @Get('misnamed/:sku')
  @UseInterceptors(BloomInterceptor)
  @BloomGuarded('products')
  async misnamed(@Param('sku') sku: string) {
    return this.reach(sku);
  }

  private reach(id: unknown) {
    reached.push(id);
    return { reached: true };
  }
}

@Injectable()
class Repository {
  @BloomGuarded('products')
  async find(id: Anything) {
    return this.reach(id);
  }

  @BloomGuarded('products', { onInvalid: 'absent', onAbsent: () => 'nothing' })
  async strict(id: Anything) {
    return this.reach(id);
  }

  @BloomGuarded('products', {
    id: (text: string) => {
      if (text.length !== 4) throw new BloomIdError('Expected four characters.');
      return text;
    },
    onInvalid: 'absent',
  })
  async checked(id: string) {
    return this.reach(id);
  }

  @BloomGuarded('products', {
    id: (async (id: string) => Promise.reject(new Error(id))) as never,
    onInvalid: 'absent',
  })
  async promised(id: string) {
    return this.reach(id);
  }

  private reach(id: unknown) {
    reached.push(id);
    return 'called';
  }
}

/** What can be no row's id of any kind. */
const INVALID = [
  undefined,
  null,
  '',
  Number.NaN,
  Infinity,
  0.5,
  2 ** 53,
  true,
  [],
  ['A-1'],
  {},
  new Date(0),
  new Uint8Array(),
];
const kinds = (events: readonly BloomEvent[]) => events.map(({ type }) => type);

beforeEach(() => void (reached = []));

describe.each(PLATFORMS)('A value that is no id, on a route of %s', (platform) => {
  let routes: GuardedRoutes;
  const queries = ['', '?id=', '?id=A-1&id=A-1', platform === 'express' ? '?id[]=A-1' : '?id=&id='];

  beforeEach(() => void (routes = new GuardedRoutes(platform)));
  afterEach(() => routes.close());

  it('is absent by default, and does not reach the method', async () => {
    const { get } = await routes.start(ProductController);
    for (const path of ['/default', '/property', '/before']) {
      for (const query of queries) {
        if (query.includes('[') && path !== '/default') continue; // Then there is no query.id.
        expect(await get(path + query)).toEqual(NOT_FOUND);
      }
      expect((await get(`${path}?id=A-1`)).status).toBe(200);
    }
    expect(reached).toEqual(['A-1', 'A-1', 'A-1']);
    expect(new Set(kinds(routes.events))).toEqual(new Set(['invalid-id']));
    expect(routes.products.guarding.counts()).toMatchObject({ unknown: 0, absent: 0 });
    expect(routes.products.guarding.counts().invalid).toBe(routes.events.length);
  });

  it('passes or is answered where the decorator says so, whatever onUnknown says', async () => {
    const { get } = await routes.start(ProductController);
    for (const query of queries) {
      expect((await get(`/pass${query}`)).status).toBe(200);
      expect((await get(`/answer${query}`)).body).toMatchObject({ refused: expect.any(String) });
    }
    expect(reached).toHaveLength(queries.length);
  });

  it('blocks nothing in shadow mode', async () => {
    const { get } = await routes.start(ProductController);
    routes.products.guarding.mode = 'shadow';
    expect((await get('/default?id=')).status).toBe(200);
  });

  it('is not what a route gives that lacks the parameter: the mistake of its author makes no row absent', async () => {
    const { get } = await routes.start(ProductController);
    expect((await get('/misnamed/A-1')).status).toBe(200);
    expect(routes.events).toEqual([
      {
        type: 'invalid-id',
        filter: 'products',
        method: 'ProductController.misnamed',
        error: expect.objectContaining({
          message: expect.stringContaining("The route has no parameter 'id'"),
        }),
      },
    ]);
  });
});

describe('A value that is no id, on a method of a provider', () => {
  let app: GuardedProviders;

  beforeEach(() => void (app = new GuardedProviders(['A-10'])));
  afterEach(() => app.close());

  it('reaches the method by default, and is absent where the decorator or the application says so', async () => {
    const repository = (await app.start([Repository])).get(Repository);
    for (const value of INVALID) {
      expect(await repository.find(value)).toBe('called');
      expect(await repository.strict(value)).toBe('nothing');
    }
    expect(reached).toEqual(INVALID);
    expect(app.events).toHaveLength(2 * INVALID.length);
    await app.close();
    const strict = (await app.start([Repository], { defaults: { onInvalid: 'absent' } })).get(Repository);
    for (const value of INVALID) expect(await strict.find(value)).toBeNull();
  });

  it('is told apart from a failure of the option id by the error', async () => {
    const repository = (await app.start([Repository])).get(Repository);
    expect(await repository.checked('A-10')).toBe('called');
    expect(await repository.checked('A-1')).toBeNull();
    expect(await repository.checked(undefined as never)).toBe('called');
    expect(app.events).toEqual([
      expect.objectContaining({ type: 'invalid-id', method: 'Repository.checked', answered: true }),
      expect.objectContaining({ type: 'advice' }),
      { type: 'invalid-id', filter: 'products', error: expect.any(TypeError), method: 'Repository.checked' },
    ]);
  });

  it('is not what a function id promises: that is a mistake of the application, and makes no row absent', async () => {
    const repository = (await app.start([Repository])).get(Repository);
    expect(await repository.promised('A-10')).toBe('called');
    expect(app.events).toEqual([
      {
        type: 'invalid-id',
        filter: 'products',
        method: 'Repository.promised',
        error: expect.objectContaining({
          message: 'Expected the option id to return its answer at once, got a promise.',
        }),
      },
    ]);
  });

  it('is refused as an option, where the types have not seen it', async () => {
    expect(() => BloomGuarded('products', { onInvalid: 'refuse' as never })({}, 'find', {})).toThrow(
      BloomConfigError,
    );
    await expect(app.start([], { defaults: { onInvalid: 7 as never } })).rejects.toThrow(
      /forRoot\(\): expected guard.onInvalid to be 'pass', 'absent' or a function, got 7/,
    );
  });
});
