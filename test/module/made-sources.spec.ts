import { describe, expect, it } from '@jest/globals';
import { Global, Inject, Injectable, Module, type ModuleMetadata } from '@nestjs/common';
import {
  type BloomEvent,
  type BloomFeature,
  type BloomIdSource,
  type BloomIdSpelling,
  BloomModule,
  BloomService,
  BloomUnavailableError,
  getBloomFilterToken,
  type BloomFilter,
  BloomConfigError,
  lowerCase,
  uuid,
} from '../../src/index.js';
import { BloomTestingModule } from '../../src/testing/index.js';
import { startContext } from '../support/nest-app.js';

const UUID = '0b3b1f0a-7d5e-4c55-9c5e-0a0a0a0a0a0a';
const NAMED: BloomIdSpelling = { column: 'products.id is of type uuid', name: 'uuid', normalize: uuid };

class Table {
  readonly ids = [UUID];
}

@Global()
@Module({ providers: [Table, { provide: 'REGION', useValue: 'eu' }], exports: [Table] })
class TableModule {}

function sourceOf(ids: readonly string[], spelling?: BloomIdSpelling): BloomIdSource {
  return {
    async *ids() {
      yield ids;
    },
    ...(spelling && { spelling }),
  };
}

@Injectable()
class ClassWithGetter implements BloomIdSource {
  @Inject(Table) private readonly table!: Table;

  get spelling() {
    return NAMED;
  }

  async *ids() {
    yield this.table.ids;
  }
}

@Injectable()
class ClassWithProperty implements BloomIdSource {
  readonly spelling = NAMED;

  async *ids() {
    yield [UUID];
  }
}

async function start(feature: Partial<BloomFeature>, metadata: ModuleMetadata = {}) {
  const events: BloomEvent[] = [];
  const context = await startContext({
    ...metadata,
    imports: [
      TableModule,
      BloomModule.forRoot({
        onEvent: (event) => events.push(event),
        filters: [{ name: 'products', capacity: 1000, rebuild: { drainMs: 0, onBoot: 'never' }, ...feature }],
      }),
    ],
  });
  const filter = context.get(BloomService).filter('products');
  try {
    await filter.rebuild();
  } catch (error) {
    await context.close();
    throw error;
  }
  return { context, filter, events };
}

describe('A source that is made from providers', () => {
  it('is injected what is in any module, by class, token and optionally', async () => {
    const injected: unknown[] = [];
    const { context, filter } = await start({
      source: {
        inject: [Table, 'REGION', { token: 'NOBODY', optional: true }],
        useFactory: async (table: Table, ...others: unknown[]) => {
          injected.push(...others);
          return sourceOf(table.ids);
        },
      },
    });
    expect(injected).toEqual(['eu', undefined]);
    expect(await filter.check(UUID)).toBe('maybe');
    expect(await filter.check('b')).toBe('absent');
    await context.close();
  });

  it.each<[string, BloomFeature['source'], RegExp]>([
    [
      'needs what is no provider',
      { inject: ['NOBODY'], useFactory: () => sourceOf([]) },
      /Filter 'products' has a source that needs NOBODY, which is not a provider of any module/,
    ],
    [
      'makes what is no source',
      { useFactory: () => ({}) as BloomIdSource },
      /Filter 'products': expected its source to be an object with a method ids\(\), .*, got \{\}/,
    ],
    [
      'fails',
      {
        useFactory: () => {
          throw new Error('no such table');
        },
      },
      /no such table/,
    ],
  ])('keeps the application from starting when it %s', async (_, source, message) => {
    await expect(start({ source: source! })).rejects.toThrow(message);
  });
});

describe('A source that is none', () => {
  const TO_WRITE = /Write source: \{ ids: async function\*/;
  it.each<[string, unknown]>([
    ['an async function', async () => [UUID]],
    ['an arrow function', () => [UUID]],
    ['an async generator', async function* () {}],
    ['one among others', [sourceOf([]), async () => [UUID]]],
  ])('is refused at the start with what to write: %s', async (_, source) => {
    await expect(start({ source: source as BloomIdSource })).rejects.toThrow(BloomConfigError);
    await expect(start({ source: source as BloomIdSource })).rejects.toThrow(TO_WRITE);
  });

  const MADE: readonly [string, () => unknown, string][] = [
    ['an array', () => [UUID], 'an array'],
    ['a promise', async () => [UUID], 'a promise'],
    ['a promise that fails', async () => Promise.reject(new Error('gone')), 'a promise'],
    ['a plain generator', function* () {}, 'object'],
    ['nothing', () => undefined, 'undefined'],
  ];
  describe.each(MADE)('whose ids() returns %s', (_, ids, got) => {
    const source = { ids } as BloomIdSource;
    it.each<[string, Partial<BloomFeature>]>([
      ['alone', { source }],
      ['made from providers', { source: { useFactory: () => source } }],
      ['among others', { source: [sourceOf([]), source] }],
      [
        'with topUp',
        {
          source: { ...source, async *idsSince() {}, newest: async () => undefined },
          topUp: { everyMs: 3_600_000 },
        },
      ],
    ])('fails a rebuild with what to write, %s', async (__, feature) => {
      const failed = start(feature);
      await expect(failed).rejects.toThrow(
        `Expected ids() of the source to return an async iterable, got ${got}. Write it as an async generator`,
      );
      await expect(failed).rejects.toMatchObject({
        reason: 'source-failed',
        cause: expect.any(BloomConfigError),
      });
    });
  });
});

describe('In a test', () => {
  it('what a source is made from may be left out: ids are taken as they are written', async () => {
    const context = await startContext({
      imports: [
        BloomTestingModule.of({ products: [UUID] }),
        BloomModule.forFeature([
          {
            name: 'products',
            capacity: 1000,
            source: { inject: ['NOBODY'], useFactory: () => sourceOf([]) },
          },
        ]),
      ],
    });
    const filter = context.get(BloomService).filter('products');
    expect(await filter.checkMany([UUID, 'b'])).toEqual(['maybe', 'absent']);
    await context.close();
  });

  it('a source that can be made chooses how the ids of the test are spelled', async () => {
    const context = await startContext({
      imports: [
        BloomTestingModule.of({ products: [UUID] }),
        BloomModule.forFeature([
          { name: 'products', capacity: 1000, source: { useFactory: () => sourceOf([], NAMED) } },
        ]),
      ],
    });
    const filter = context.get(BloomService).filter('products');
    expect(await filter.checkMany([UUID.toUpperCase(), 'b'])).toEqual(['maybe', 'absent']);
    await context.close();
  });
});

describe('How ids are spelled', () => {
  it.each<[string, Partial<BloomFeature>, ModuleMetadata]>([
    ['an object', { source: sourceOf([UUID], NAMED) }, {}],
    [
      'a factory',
      { source: { inject: [Table], useFactory: (table: Table) => sourceOf(table.ids, NAMED) } },
      {},
    ],
    ['a class', { source: ClassWithGetter }, { providers: [ClassWithGetter] }],
  ])('is chosen by the source: %s', async (_, feature, metadata) => {
    const { context, filter, events } = await start(feature, metadata);
    expect(await filter.check(UUID.toUpperCase())).toBe('maybe');
    await filter.add('{0B3B1F0A-7D5E-4C55-9C5E-0A0A0A0A0A0B}');
    expect(await filter.check('0b3b1f0a7d5e4c559c5e0a0a0a0a0a0b')).toBe('maybe');
    expect(events.filter(({ type }) => type === 'normalize-chosen')).toEqual([
      {
        type: 'normalize-chosen',
        filter: 'products',
        normalize: 'uuid',
        column: 'products.id is of type uuid',
      },
    ]);
    await context.close();
  });

  it('is what the definition says, whatever the source would choose', async () => {
    const made = { useFactory: () => sourceOf(['abc'], NAMED) };
    for (const source of [sourceOf(['abc'], NAMED), made]) {
      const { context, filter, events } = await start({ source, normalize: lowerCase });
      expect(await filter.check('ABC')).toBe('maybe');
      expect(events.map(({ type }) => type)).not.toContain('normalize-chosen');
      await context.close();
    }
  });

  it('is advised about when the source knows the type and nothing fits', async () => {
    const { context, filter, events } = await start({
      source: sourceOf(['7.50'], { column: 'products.price is of type numeric' }),
    });
    expect(events).toContainEqual({
      type: 'advice',
      filter: 'products',
      text: expect.stringMatching(
        /^BLOOM_SPELLINGS: products\.price is of type numeric, and a database may take several/,
      ),
    });
    expect(await filter.check('7.5')).toBe('absent');
    await context.close();
  });

  it('is not known before all modules are made: nothing is answered "absent" or added until then', async () => {
    let seen: unknown;
    const early = {
      provide: 'EARLY',
      inject: [getBloomFilterToken('products')],
      useFactory: async (filter: BloomFilter) => {
        const added = await filter.add(UUID).catch((error: unknown) => error);
        seen = [added, await filter.check('b'), ...(await filter.checkMany(['b']))];
        return null;
      },
    };
    const { context, events } = await start(
      { source: { useFactory: () => sourceOf([UUID], NAMED) } },
      { providers: [early] },
    );
    expect(seen).toEqual([expect.any(BloomUnavailableError), 'unknown', 'unknown']);
    expect(events).toContainEqual(expect.objectContaining({ type: 'store-error', operation: 'check' }));
    await context.close();
  });

  it('of a class is a getter, which is there before its instance', async () => {
    await expect(start({ source: ClassWithProperty }, { providers: [ClassWithProperty] })).rejects.toThrow(
      /ClassWithProperty sets the property spelling when it is made.*Declare it as a getter/s,
    );
  });
});
