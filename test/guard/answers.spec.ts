import { Controller, Get, Injectable, NotFoundException, Param, Post, SetMetadata } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BloomUnavailableError } from '../../src/common/index.js';
import { BloomConfigError, BloomGuarded, BloomRegisters } from '../../src/index.js';
import { PLATFORMS } from '../support/nest-app.js';
import { GuardedProviders } from './support/guarded-providers.js';
import { GuardedRoutes, NOT_FOUND } from './support/guarded-routes.js';
import type { Anything } from './support/anything.js';

/** What the packages export, which applications without sockets and messages do not have. */
class WsException extends Error {
  constructor(readonly error: string | object) {
    super(String(error));
  }
}
class RpcException extends WsException {}
jest.unstable_mockModule('@nestjs/websockets', () => ({ WsException }), { virtual: true });
jest.unstable_mockModule('@nestjs/microservices', () => ({ RpcException }), { virtual: true });

const Message = () => SetMetadata('websockets:message_mapping', true);
const Pattern =
  (type: number): MethodDecorator =>
  (target, key, descriptor) => {
    SetMetadata('microservices:pattern', ['find'])(target, key, descriptor);
    SetMetadata('microservices:handler_type', type)(target, key, descriptor);
  };
const Field = () => SetMetadata('graphql:resolver_type', 'Query');

@Injectable()
class Handlers {
  @Message()
  @BloomGuarded('products', { onUnknown: 'unavailable' })
  async ofSocket(_sku: string) {
    return 'called';
  }

  @Pattern(1)
  @BloomGuarded('products', { onUnknown: 'unavailable' })
  async ofMessage(_sku: string) {
    return 'called';
  }

  @Pattern(2)
  @BloomGuarded('products')
  async ofEvent(_sku: string) {
    return 'called';
  }

  @Field()
  @BloomGuarded('products')
  async ofField(_sku: string, _info?: object) {
    return 'called';
  }

  @Pattern(1)
  @BloomRegisters('products')
  async create(_sku: string) {
    return 'created';
  }
}

/** As TypeORM throws it. */
class EntityNotFoundError extends Error {}

@Injectable()
class Repository {
  @BloomGuarded('products', { onAbsent: 'not-found' })
  async get(sku: string): Promise<{ sku: string }> {
    return { sku };
  }

  @BloomGuarded('products', { onAbsent: 'empty' })
  async list(sku: string): Promise<string[]> {
    return [sku];
  }

  @BloomGuarded('products', { onAbsent: 'null' })
  async find(sku: string): Promise<string | null> {
    return sku;
  }

  @BloomGuarded('products')
  async untyped(_sku: string): Promise<Anything> {
    return [];
  }

  @BloomGuarded('products')
  async demand(_sku: string): Promise<string> {
    throw new NotFoundException();
  }

  @BloomGuarded('products')
  async orFail(_sku: string): Promise<string> {
    throw new EntityNotFoundError();
  }

  @BloomGuarded('products')
  async orThrow(_sku: string): Promise<string> {
    throw Object.assign(new Error('No record was found.'), { code: 'P2025' });
  }

  @BloomGuarded('products')
  async fail(_sku: string): Promise<string> {
    throw new Error('connection lost');
  }
}

let app: GuardedProviders;
beforeEach(() => void (app = new GuardedProviders(['A-1'])));
afterEach(() => app.close());

describe('An absent id', () => {
  it('is answered as Nest answers each client, and with null to the application itself', async () => {
    const handlers = (await app.start([Handlers])).get(Handlers);
    await expect(handlers.ofSocket('none')).rejects.toEqual(new WsException('Not Found'));
    const message = await handlers.ofMessage('none').catch((error: unknown) => error);
    expect(message).toBeInstanceOf(RpcException);
    expect(message).toMatchObject({ error: { statusCode: 404, message: 'Not Found' } });
    expect(await handlers.ofEvent('none')).toBeNull();
    expect(await handlers.ofSocket('A-1')).toBe('called');
  });

  it('is null in a field of GraphQL that may be null, and an error in any other', async () => {
    const handlers = (await app.start([Handlers])).get(Handlers);
    const info = (returnType: string) => ({ fieldName: 'f', parentType: {}, schema: {}, returnType });
    expect(await handlers.ofField('none', info('Product'))).toBeNull();
    await expect(handlers.ofField('none', info('Product!'))).rejects.toThrow(NotFoundException);
    expect(await handlers.ofField('none')).toBeNull();
    const fields: object[] = [];
    const storage = { getQueriesMetadata: () => [], getMutationsMetadata: () => fields };
    const global = globalThis as { GqlTypeMetadataStorage?: object };
    global.GqlTypeMetadataStorage = storage;
    try {
      fields.push({ target: Repository, methodName: 'ofField', returnTypeOptions: { nullable: true } });
      for (const [nullable, isNull] of [
        [undefined, false],
        ['items', false],
        ['itemsAndList', true],
        [true, true],
      ]) {
        fields[1] = { target: Handlers, methodName: 'ofField', returnTypeOptions: { nullable } };
        const answer = await handlers.ofField('none').catch((error: unknown) => error);
        expect([nullable, answer === null]).toEqual([nullable, isNull]);
      }
    } finally {
      delete global.GqlTypeMetadataStorage;
    }
  });

  it('is answered as onAbsent says', async () => {
    const repository = (await app.start([Repository])).get(Repository);
    await expect(repository.get('none')).rejects.toThrow(NotFoundException);
    expect(await repository.list('none')).toEqual([]);
    expect(await repository.list('none')).not.toBe(await repository.list('none'));
    expect(await repository.find('none')).toBeNull();
    await app.close();
    const other = (await app.start([Repository], { defaults: { onAbsent: 'not-found' } })).get(Repository);
    await expect(other.untyped('none')).rejects.toThrow(NotFoundException);
    expect(await other.find('none')).toBeNull();
  });

  it('is advised on, once, where the method answers otherwise than its guard', async () => {
    const repository = (await app.start([Repository])).get(Repository);
    for (let i = 0; i < 2; i++) {
      expect(await repository.untyped('A-1')).toEqual([]);
      await expect(repository.demand('A-1')).rejects.toThrow(NotFoundException);
      await expect(repository.orFail('A-1')).rejects.toThrow(EntityNotFoundError);
      await expect(repository.orThrow('A-1')).rejects.toThrow('No record');
      await expect(repository.fail('A-1')).rejects.toThrow('connection lost');
    }
    await expect(repository.get('none')).rejects.toThrow(NotFoundException);
    expect(app.events).toEqual([
      {
        type: 'advice',
        filter: 'products',
        text:
          'BLOOM_OTHER_ANSWER: Repository.untyped returns a list, and its guard answers null for an absent id. Say what its callers expect: ' +
          "@BloomGuarded('products', { onAbsent: 'empty' }), 'null', or a function that answers or throws.",
      },
      {
        type: 'advice',
        filter: 'products',
        text: expect.stringContaining('Repository.demand throws NotFoundException when it finds nothing'),
      },
      expect.objectContaining({
        text: expect.stringContaining('Repository.orFail throws EntityNotFoundError when'),
      }),
      expect.objectContaining({ text: expect.stringContaining('Repository.orThrow throws Error when') }),
    ]);
  });

  it('cannot be answered otherwise, and options of other names are refused', () => {
    const decorate = (options: object) => () => BloomGuarded('products', options)({}, 'find', {});
    expect(decorate({ onAbsent: 'nothing' })).toThrow(
      /onAbsent .* 'not-found', 'null', 'empty' or a function/,
    );
    expect(decorate({ onAbsentt: 'null' })).toThrow(
      new BloomConfigError(
        "@BloomGuarded('products') on Object.find: expected no option 'onAbsentt'. Did you mean 'onAbsent'?",
      ),
    );
    const register = () => BloomRegisters('products', { onFailure: 'queue' } as object)({}, 'find', {});
    expect(register).toThrow(/expected no option 'onFailure'/);
  });
});

describe('What cannot be known or recorded', () => {
  it('is answered as Nest answers each client', async () => {
    const handlers = (await app.start([Handlers])).get(Handlers);
    app.products.verdict = 'unknown';
    await expect(handlers.ofSocket('x')).rejects.toEqual(new WsException('Service Unavailable'));
    await expect(handlers.ofMessage('x')).rejects.toMatchObject({ error: { statusCode: 503 } });
    app.products.addError = new BloomUnavailableError('down');
    const error = await handlers.create('x').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RpcException);
    expect(error).toMatchObject({ error: { statusCode: 503 }, cause: app.products.addError });
  });

  it.each(PLATFORMS)('is a 503 on a route of %s', async (platform) => {
    @Controller()
    class ProductController {
      @Post('before/:sku')
      @BloomRegisters('products')
      async before(@Param('sku') sku: string) {
        return { sku };
      }

      @Post('after/:sku')
      @BloomRegisters('products', { from: 'result' })
      async after(@Param('sku') sku: string) {
        return sku;
      }

      @Get(':sku')
      @BloomGuarded('products', { onAbsent: 'not-found' })
      async list(@Param('sku') sku: string) {
        return [sku];
      }
    }
    const routes = new GuardedRoutes(platform);
    try {
      const { get } = await routes.start(ProductController);
      expect(await get('/none')).toEqual(NOT_FOUND);
      routes.products.addError = new BloomUnavailableError('down');
      for (const path of ['/before/x', '/after/x']) {
        expect(await get(path, { method: 'POST' })).toEqual({
          status: 503,
          body: { statusCode: 503, message: 'Service Unavailable' },
        });
      }
    } finally {
      await routes.close();
    }
  });

  it('rejects with the error of the filter where the application calls', async () => {
    @Injectable()
    class Products {
      @BloomRegisters('products')
      async create(_sku: string) {}
    }
    const products = (await app.start([Products])).get(Products);
    app.products.addError = new BloomUnavailableError('down');
    await expect(products.create('x')).rejects.toBe(app.products.addError);
  });
});
