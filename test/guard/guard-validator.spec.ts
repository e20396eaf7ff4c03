import { Controller, Get, Injectable, Module, Scope, UseInterceptors } from '@nestjs/common';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { BloomConfigError } from '../../src/common/index.js';
import {
  BloomGuarded,
  BloomGuardRunner,
  BloomInterceptor,
  BloomRegisters,
  registrarOf,
} from '../../src/guard/index.js';
import { startContext } from '../support/nest-app.js';
import { testBloom } from './support/test-bloom.js';
import { TestFilter } from './support/test-filter.js';

const HINT =
  'Register it with BloomModule.forFeature([{ name, capacity, … }]) or forRoot({ filters }), or correct the name.';

let context: TestingModule | undefined;
afterEach(() => context?.close());

async function start(metadata: Parameters<typeof startContext>[0], filters = ['products', 'phones']) {
  const bloom = testBloom({ filters: filters.map((name) => new TestFilter(name)) });
  context = await startContext({ ...metadata, imports: [bloom, ...(metadata.imports ?? [])] });
}

/** The message that the start failed with. */
async function failure(metadata: Parameters<typeof startContext>[0], filters?: string[]): Promise<string> {
  const error = await start(metadata, filters).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(BloomConfigError);
  return (error as BloomConfigError).message;
}

class Repository {
  @BloomGuarded('prodcuts')
  async find(_sku: string) {}
}

describe('GuardValidator', () => {
  it('says class, method, name, and which names exist', async () => {
    expect(await failure({ providers: [Repository] })).toBe(
      "@BloomGuarded('prodcuts') on Repository.find names a filter that is not registered.\n" +
        `Registered filters: 'products', 'phones'. ${HINT}`,
    );
    expect(await failure({ providers: [Repository] }, [])).toBe(
      "@BloomGuarded('prodcuts') on Repository.find names a filter that is not registered.\n" +
        `No filter is registered. ${HINT}`,
    );
  });

  it('names filters of write hooks that nobody has registered', async () => {
    const hook = (filter: string) => ({
      provide: `hook of ${filter}`,
      inject: [BloomGuardRunner],
      useFactory: (runner: BloomGuardRunner) => registrarOf(runner, filter),
    });
    expect(await failure({ providers: [hook('prodcuts'), hook('phones')] })).toBe(
      "A hook that records the rows of a library (extendWithBloom, for example) names the filter 'prodcuts', which is not registered.\n" +
        `Registered filters: 'products', 'phones'. ${HINT}`,
    );
  });

  it('names all of them at once, each once', async () => {
    @Controller()
    class ProductController {
      @Get()
      @BloomGuarded('nowhere')
      async find(_sku: string) {}

      @BloomRegisters('neither')
      async create(_sku: string) {}

      @BloomGuarded('products')
      @BloomGuarded('never')
      async both(_sku: string) {}
    }
    @Module({ providers: [Repository] })
    class OtherModule {}
    const message = await failure({
      imports: [OtherModule],
      controllers: [ProductController],
      providers: [Repository, { provide: 'ALIAS', useExisting: Repository }],
    });
    expect(message.split('\n').slice(0, -1).sort()).toEqual([
      "@BloomGuarded('never') on ProductController.both names a filter that is not registered.",
      "@BloomGuarded('nowhere') on ProductController.find names a filter that is not registered.",
      "@BloomGuarded('prodcuts') on Repository.find names a filter that is not registered.",
      "@BloomRegisters('neither') on ProductController.create names a filter that is not registered.",
    ]);
  });

  it('finds inherited methods, request-scoped and transient classes, and objects of factories', async () => {
    @Injectable()
    class Child extends Repository {}
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest extends Repository {}
    @Injectable({ scope: Scope.TRANSIENT })
    class Transient extends Repository {}
    class Token {}
    for (const provider of [
      Child,
      PerRequest,
      Transient,
      { provide: Token, useClass: Child },
      { provide: 'FACTORY', useFactory: async () => new Child() },
      { provide: 'VALUE', useValue: new Child() },
    ]) {
      expect(await failure({ providers: [provider] })).toMatch(
        /^@BloomGuarded\('prodcuts'\) on Repository\.find /,
      );
    }
  });

  it('finds a method that decorators of others wrapped', async () => {
    const Bare = (): MethodDecorator => (_target, _key, descriptor) => {
      descriptor.value = (async () => {}) as never;
    };
    @Injectable()
    class Wrapped {
      @Bare()
      @BloomGuarded('nowhere')
      async find(_sku: string) {}
    }
    expect(await failure({ providers: [Wrapped] })).toContain("@BloomGuarded('nowhere') on Wrapped.find");
  });

  it('starts where every filter is registered, beside providers of any kind, without touching their properties', async () => {
    @Injectable()
    class Fine {
      @BloomGuarded('products')
      @BloomRegisters('phones')
      async find(_sku: string) {}

      get touched(): never {
        throw new Error('touched');
      }
    }
    const values = [
      null,
      undefined,
      7,
      'text',
      () => {},
      Object.create(null),
      [],
      new Proxy({}, {}),
      Symbol('s'),
    ];
    await start({
      providers: [
        Fine,
        ...values.map((useValue, i) => ({ provide: `V${i}`, useValue })),
        { provide: 'F', useFactory: () => null },
      ],
    });
    expect(context).toBeDefined();
  });
});

describe('The option param', () => {
  class ProductController {
    @Get('early/:sku')
    @UseInterceptors(BloomInterceptor)
    @BloomGuarded('products', { param: 'sku' })
    async early(_request: object) {}

    @Get('late/:sku')
    @BloomGuarded('products', { param: 'sku' })
    async late(_request: object) {}
  }

  it('is refused where the interceptor does not check the method', async () => {
    @Controller()
    class Child extends ProductController {}
    expect(await failure({ controllers: [Child] })).toBe(
      "@BloomGuarded('products', { param }) on ProductController.late: BloomInterceptor reads the option param, and does not check this " +
        'method. Put @UseInterceptors(BloomInterceptor) on the route or its controller, or say by the option id where the arguments of the ' +
        'method have the id.',
    );
  });

  it('is allowed where it is on the class, and on a method that a subclass replaces', async () => {
    @Controller()
    @UseInterceptors(BloomInterceptor)
    class OnClass extends ProductController {}
    @Controller()
    class Replaced extends ProductController {
      override async late() {}
    }
    await start({ controllers: [OnClass, Replaced] });
    expect(context).toBeDefined();
  });
});
