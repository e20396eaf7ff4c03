import {
  Controller,
  Get,
  Inject,
  Injectable,
  NotFoundException,
  Param,
  Scope,
  UseInterceptors,
} from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  BloomConfigError,
  BloomGuarded,
  BloomGuardedMany,
  BloomInterceptor,
  BloomRegisters,
} from '../../src/index.js';
import { BloomTestingModule } from '../../src/testing/index.js';
import { PLATFORMS, startContext } from '../support/nest-app.js';
import { GuardedProviders } from './support/guarded-providers.js';
import { GuardedRoutes, NOT_FOUND } from './support/guarded-routes.js';
import { TestFilter } from './support/test-filter.js';

let asked = 0;

abstract class Base {
  abstract readonly filterName: string;

  @BloomGuarded((self: Base) => (asked++, self.filterName))
  async find(id: string): Promise<string | null> {
    return `${this.filterName} ${id}`;
  }

  @BloomGuarded((self) => self.filterName, { onAbsent: 'not-found', coalesce: { key: () => '' } })
  async get(id: string): Promise<string> {
    return id;
  }

  @BloomGuardedMany((self: Base) => self.filterName)
  async findMany(ids: readonly string[]): Promise<string[]> {
    return [...ids];
  }

  @BloomRegisters((self: Base) => self.filterName)
  async create(id: string) {
    return id;
  }
}

@Injectable()
class Products extends Base {
  readonly filterName = 'products';
}

@Injectable()
class Orders extends Base {
  filterName = '';

  onModuleInit() {
    this.filterName = 'orders';
  }
}

@Injectable()
class Others extends Base {
  readonly filterName = 'others';
}

describe('A filter that each instance names', () => {
  let app: GuardedProviders;
  let orders: TestFilter;
  beforeEach(() => {
    app = new GuardedProviders(['A-1']);
    orders = new TestFilter('orders', ['7']);
    asked = 0;
  });
  afterEach(() => app.close());
  const start: GuardedProviders['start'] = (providers) => app.start(providers, { others: [orders] });

  it('is asked for each of them, and named once', async () => {
    const module = await start([Products, Orders]);
    const [products, ofOrders] = [module.get(Products), module.get(Orders)];
    for (let i = 0; i < 3; i++) {
      expect([await products.find('A-1'), await products.find('7')]).toEqual(['products A-1', null]);
      expect([await ofOrders.find('A-1'), await ofOrders.find('7')]).toEqual([null, 'orders 7']);
    }
    expect(asked).toBe(2);
    await expect(products.get('7')).rejects.toThrow(NotFoundException);
    expect(await ofOrders.get('7')).toBe('7');
    expect(await products.findMany(['7', 'A-1'])).toEqual(['A-1']);
    expect(await ofOrders.findMany(['7', 'A-1'])).toEqual(['7']);
    await ofOrders.create('8');
    expect([await ofOrders.find('8'), await products.find('8')]).toEqual(['orders 8', null]);
    expect(app.events).toEqual([]);
  });

  it('is an error at start where it is not registered, or is no name', async () => {
    const error = await start([Products, Others]).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BloomConfigError);
    expect((error as Error).message.split('\n')).toEqual([
      "@BloomGuarded((self) => …) on Base.find names the filter 'others' for Others, which is not registered.",
      "@BloomGuarded((self) => …) on Base.get names the filter 'others' for Others, which is not registered.",
      "@BloomGuardedMany((self) => …) on Base.findMany names the filter 'others' for Others, which is not registered.",
      "@BloomRegisters((self) => …) on Base.create names the filter 'others' for Others, which is not registered.",
      expect.stringContaining("Registered filters: 'products', 'orders'."),
    ]);
    @Injectable()
    class Nameless extends Base {
      declare readonly filterName: string;
    }
    await expect(start([Nameless])).rejects.toThrow(
      '@BloomGuarded((self) => …) on Base.find: expected the name of a filter for Nameless, got undefined. Give a text, or a function that ' +
        'returns one: (self) => self.filterName.',
    );
    @Injectable()
    class Failing {
      @BloomGuarded((self) => self.options.name)
      async find(_id: string): Promise<void> {}
    }
    await expect(start([Failing])).rejects.toThrow(
      /Failing.find: expected the name of a filter for Failing, got the error TypeError/,
    );
  });

  it('is reported with a call where the application makes its objects later', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest extends Base {
      filterName: string = undefined as never;
    }
    const module = await start([PerRequest]);
    const resolved = await module.resolve(PerRequest);
    expect(await resolved.find('x')).toBe('undefined x');
    expect(await resolved.findMany(['x'])).toEqual(['x']);
    await expect(resolved.create('x')).rejects.toThrow(
      /@BloomRegisters\(\(self\) => …\) on Base.create: expected the name of a filter for PerRequest, got undefined/,
    );
    expect(app.events).toEqual([
      {
        type: 'filter-missing',
        filter: '(self) => …',
        method: 'Base.find',
        error: expect.any(BloomConfigError),
      },
      {
        type: 'filter-missing',
        filter: '(self) => …',
        method: 'Base.findMany',
        error: expect.any(BloomConfigError),
      },
    ]);
    app.events.length = 0;
    resolved.filterName = 'none';
    expect(await resolved.find('x')).toBe('none x');
    await expect(resolved.create('x')).rejects.toThrow(BloomConfigError);
    expect(app.events).toEqual([{ type: 'filter-missing', filter: 'none', method: 'Base.find' }]);
    const next = await module.resolve(PerRequest);
    next.filterName = 'orders';
    expect([await next.find('x'), await next.find('7')]).toEqual([null, 'orders 7']);
  });

  it('is a mistake with the option param, and where it is neither a name nor a function', () => {
    const decorate =
      (name: unknown, options = {}) =>
      () =>
        BloomGuarded(name as never, options)(Products.prototype, 'find', { value: async () => {} });
    expect(decorate(() => 'products', { param: 'id' })).toThrow(/expected no option param beside a function/);
    expect(decorate(undefined)).toThrow(
      /@BloomGuarded on Products.find: expected the name of a filter, got undefined/,
    );
  });

  it('is one of a test, by its name', async () => {
    const module = await startContext({
      imports: [BloomTestingModule.of({ products: ['a'] })],
      providers: [Products],
    });
    const products = module.get(Products);
    expect([await products.find('a'), await products.find('b')]).toEqual(['products a', null]);
    await module.close();
    const passing = await startContext({ imports: [BloomTestingModule.passAll()], providers: [Others] });
    expect(await passing.get(Others).find('x')).toBe('others x');
    await passing.close();
  });
});

describe.each(PLATFORMS)('A filter that each controller names, on %s', (platform) => {
  it('is asked by its routes, also behind BloomInterceptor', async () => {
    class Crud {
      constructor(@Inject('name') readonly filterName: string) {}

      @Get(':id')
      @BloomGuarded((self: Crud) => self.filterName)
      async find(@Param('id') id: string) {
        return { id };
      }
    }
    @Controller('plain')
    class Plain extends Crud {}
    @Controller('intercepted')
    @UseInterceptors(BloomInterceptor)
    class Intercepted extends Crud {}
    const routes = new GuardedRoutes(platform);
    try {
      const { get } = await routes.start([Plain, Intercepted], {
        providers: [{ provide: 'name', useValue: 'products' }],
      });
      for (const path of ['/plain', '/intercepted']) {
        expect(await get(`${path}/A-1`)).toEqual({ status: 200, body: { id: 'A-1' } });
        expect(await get(`${path}/none`)).toEqual(NOT_FOUND);
      }
      expect(routes.products.checked).toHaveLength(4);
    } finally {
      await routes.close();
    }
  });
});
