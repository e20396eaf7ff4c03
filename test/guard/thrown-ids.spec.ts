import { Controller, Get, Injectable, Query, UseInterceptors } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BloomIdError, BloomUnavailableError } from '../../src/common/index.js';
import { BloomConfigError, BloomGuarded, BloomInterceptor } from '../../src/index.js';
import { IdKeys } from '../../src/service/index.js';
import { PLATFORMS } from '../support/nest-app.js';
import { GuardedProviders } from './support/guarded-providers.js';
import { GuardedRoutes, NOT_FOUND } from './support/guarded-routes.js';

interface Asked {
  readonly id: string;
}

@Controller()
class ProductController {
  @Get('default')
  @BloomGuarded('products', { id: (query: Asked) => query.id.trim() })
  async byDefault(@Query() query: Asked) {
    return query;
  }

  @Get('invalid')
  @BloomGuarded('products', { id: (query: Asked) => query.id.trim(), onThrow: 'invalid' })
  async invalid(@Query() query: Asked) {
    return query;
  }

  @Get('before')
  @UseInterceptors(BloomInterceptor)
  @BloomGuarded('products', {
    param: (request: { query: Asked }) => request.query.id.trim(),
    onThrow: 'invalid',
  })
  async before(@Query() query: Asked) {
    return query;
  }

  @Get('misnamed')
  @UseInterceptors(BloomInterceptor)
  @BloomGuarded('products', { param: 'sku', onThrow: 'invalid' })
  async misnamed() {
    return 'called';
  }
}

@Injectable()
class Repository {
  @BloomGuarded('products')
  async find(_id: string) {
    return 'called';
  }

  @BloomGuarded('products', { onThrow: 'invalid', onInvalid: 'absent' })
  async strict(_id: string) {
    return 'called';
  }

  @BloomGuarded('products', {
    id: (async (id: string) => id) as never,
    onThrow: 'invalid',
    onInvalid: 'absent',
  })
  async promised(_id: string) {
    return 'called';
  }
}

describe.each(PLATFORMS)('An option id that throws, on a route of %s', (platform) => {
  let routes: GuardedRoutes;
  beforeEach(() => void (routes = new GuardedRoutes(platform)));
  afterEach(() => routes.close());
  const advice = () => routes.events.filter(({ type }) => type === 'advice');

  it('lets the call pass, and is advised on once for its method', async () => {
    const { get } = await routes.start(ProductController);
    for (let i = 0; i < 3; i++) expect((await get('/default?id=1&id=2')).status).toBe(200);
    expect(await get('/default?id=none')).toEqual(NOT_FOUND);
    expect(advice()).toEqual([
      {
        type: 'advice',
        filter: 'products',
        text: expect.stringMatching(
          /^BLOOM_ID_FUNCTION_THREW: ProductController\.byDefault ran without the filter: its option id threw TypeError: .*trim is not a function, .* return undefined .* BloomIdError.*onThrow: 'invalid'/,
        ),
        withoutId: expect.stringContaining('its option id threw TypeError, so the lookup was not checked'),
      },
    ]);
    expect(routes.events.filter(({ type }) => type === 'invalid-id')).toHaveLength(3);
  });

  it('says that the value is invalid where the decorator says so', async () => {
    const { get } = await routes.start(ProductController);
    for (const path of ['/invalid', '/before']) {
      expect(await get(`${path}?id=1&id=2`)).toEqual(NOT_FOUND);
      expect((await get(`${path}?id=A-1`)).status).toBe(200);
    }
    expect(advice()).toEqual([]);
    expect(routes.products.guarding.counts()).toMatchObject({ invalid: 2, unknown: 0 });
  });

  it('is not what a route is that lacks the parameter', async () => {
    const { get } = await routes.start(ProductController);
    expect((await get('/misnamed')).status).toBe(200);
    expect(advice()).toEqual([]);
  });
});

describe('A normalize that throws', () => {
  let app: GuardedProviders;
  beforeEach(() => void (app = new GuardedProviders(['A-1'])));
  afterEach(() => app.close());

  const normalizing = (normalize: (id: unknown) => string) =>
    Object.assign(app.products, { keys: new IdKeys({ name: 'products', normalize, maxIdBytes: 1024 }) });

  it('is advised on with what to write into it, of each method and without the whole of a long text', async () => {
    normalizing((id) => String(BigInt(id as string)));
    const repository = (await app.start([Repository])).get(Repository);
    for (let i = 0; i < 2; i++) expect(await repository.find('x'.repeat(9000))).toBe('called');
    expect(await repository.strict('x')).toBeNull();
    const texts = app.events.flatMap((event) => (event.type === 'advice' ? [event.text] : []));
    expect(texts).toEqual([
      expect.stringMatching(
        /^BLOOM_ID_FUNCTION_THREW: Repository\.find ran without the filter: normalize of its filter threw SyntaxError/,
      ),
    ]);
    expect(texts[0]!.length).toBeLessThan(700);
  });

  it('says that a value is invalid with a BloomIdError, whatever the options say', async () => {
    normalizing(() => {
      throw new BloomIdError('Expected a number.');
    });
    const repository = (await app.start([Repository], { defaults: { onInvalid: 'absent' } })).get(Repository);
    expect(await repository.find('x')).toBeNull();
  });

  it('leaves a value alone while it is not known how ids are spelled, and one that a promise gives', async () => {
    Object.assign(app.products, {
      keys: new IdKeys({ name: 'products', normalize: undefined, maxIdBytes: 1024, awaitsSpelling: true }),
    });
    const repository = (await app.start([Repository])).get(Repository);
    expect(await repository.strict('A-1')).toBe('called');
    expect(await repository.promised('A-1')).toBe('called');
    expect(app.events).toEqual([
      expect.objectContaining({ type: 'invalid-id', error: expect.any(BloomUnavailableError) }),
      expect.objectContaining({ type: 'invalid-id', error: expect.any(TypeError) }),
    ]);
  });

  it('may be meant for the whole application, in one of two ways', async () => {
    normalizing((id) => String(BigInt(id as string)));
    const defaults = { onThrow: 'invalid', onInvalid: 'absent' } as const;
    const repository = (await app.start([Repository], { defaults })).get(Repository);
    expect(await repository.find('x')).toBeNull();
    expect(() => BloomGuarded('products', { onThrow: 'absent' as never })({}, 'find', {})).toThrow(
      BloomConfigError,
    );
  });
});
