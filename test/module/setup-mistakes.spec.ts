import { describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import {
  BloomConfigError,
  BloomFilter,
  BloomGuarded,
  BloomModule,
  BloomService,
  getBloomFilterToken,
  InjectBloomFilter,
} from 'nestjs-bloom';
import { BloomTestingModule } from '../../src/testing/index.js';
import { startContext } from '../support/nest-app.js';

const quiet = { onEvent: () => {} };
const products = { name: 'products', capacity: 1000 };
const root = () => BloomModule.forRoot(quiet);

async function refusal(...metadata: Parameters<typeof startContext>): Promise<string> {
  const error = await startContext(...metadata).then(
    async (module) => void (await module.close()),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(BloomConfigError);
  return (error as Error).message;
}

@Injectable()
class Shop {
  constructor(@InjectBloomFilter('products') readonly products: BloomFilter) {}
}

@Injectable()
class Misspelt {
  constructor(@InjectBloomFilter('prodcts') readonly products: BloomFilter) {}
}

@Injectable()
class Nameless {
  constructor(readonly products: BloomFilter) {}
}

describe('two roots', () => {
  @Module({ imports: [root(), BloomModule.forFeature(products)] })
  class CatalogueModule {}
  @Module({ imports: [root(), CatalogueModule] })
  class AppModule {}

  it('are refused, with the modules that import them', async () => {
    expect(await refusal({ imports: [AppModule] })).toMatch(
      /forRoot\(\) is imported more than once, by (AppModule, CatalogueModule|CatalogueModule, AppModule)\. Import it once/,
    );
    const options = BloomModule.forRootAsync({ useFactory: () => quiet });
    expect(await refusal({ imports: [options, root()] })).toContain('imported more than once');
    expect(await refusal({ imports: [CatalogueModule, BloomTestingModule.passAll()] })).toContain(
      'BloomTestingModule.override()',
    );
  });

  it('are one if they are one object', async () => {
    const shared = root();
    @Module({ imports: [shared, BloomModule.forFeature(products)] })
    class FeatureModule {}
    const module = await startContext({ imports: [shared, FeatureModule] });
    expect(module.get(BloomService).has('products')).toBe(true);
    await module.close();
  });
});

describe('forFeature without forRoot', () => {
  it('is refused', async () => {
    expect(await refusal({ imports: [BloomModule.forFeature([products])] })).toBe(
      "BloomModule.forFeature() registers filter 'products', and BloomModule.forRoot() is not imported. Import it in the root module; in a " +
        'test, import BloomTestingModule.passAll() or of().',
    );
  });
});

describe('a filter that is injected', () => {
  it('is not there: the message has the names that there are', async () => {
    const imports = [root(), BloomModule.forFeature([products, { name: 'orders', capacity: 1 }])];
    expect(await refusal({ imports, providers: [Misspelt] })).toBe(
      "Misspelt asks for the filter 'prodcts' (token BloomFilter:prodcts), and no filter has that name. Did you mean 'products'? Registered " +
        "filters: 'products', 'orders'. Register it with BloomModule.forFeature([{ name, capacity, … }]) or forRoot({ filters }), or correct " +
        'the name.',
    );
    expect(await refusal({ imports: [root()], providers: [Misspelt] })).toContain('No filter is registered.');
    const useFactory = (filter: unknown) => filter;
    const maker = { provide: 'MADE', inject: [getBloomFilterToken('prodcts')], useFactory };
    expect(await refusal({ imports, providers: [maker] })).toContain(
      "A provider asks for the filter 'prodcts'",
    );
  });

  it('is not named', async () => {
    expect(
      await refusal({ imports: [root(), BloomModule.forFeature(products)], providers: [Nameless] }),
    ).toContain(
      "Nameless asks for a BloomFilter, and does not say which: @InjectBloomFilter('products') products: BloomFilter.",
    );
  });

  it('is registered by a module that is not imported', async () => {
    @Module({ imports: [BloomModule.forFeature(products)], exports: [BloomModule] })
    class CatalogueModule {}
    @Module({ providers: [Shop] })
    class ShopModule {}
    await expect(startContext({ imports: [root(), CatalogueModule, ShopModule] })).rejects.toThrow(
      /BloomFilter:products/,
    );

    @Module({ imports: [CatalogueModule], providers: [Shop] })
    class ImportingModule {}
    const module = await startContext({ imports: [CatalogueModule, ImportingModule, root()] });
    const shop = module.get(Shop, { strict: false });
    expect(shop.products).toBe(module.get(BloomService).filter('products'));
    expect(module.get(getBloomFilterToken('products'), { strict: false })).toBe(shop.products);
    await module.close();
  });

  it('is asked for by a misspelt name, at run time or by a decorator', async () => {
    const module = await startContext({ imports: [root(), BloomModule.forFeature(products)] });
    expect(() => module.get(BloomService).filter('prodcts')).toThrow("Did you mean 'products'?");
    await module.close();

    @Injectable()
    class Repository {
      @BloomGuarded('prodcts')
      async find(sku: string) {
        return sku;
      }
    }
    expect(
      await refusal({ imports: [root(), BloomModule.forFeature(products)], providers: [Repository] }),
    ).toContain("Registered filters: 'products'");
  });
});
