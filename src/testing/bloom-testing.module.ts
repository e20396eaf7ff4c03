import type { DynamicModule, Provider } from '@nestjs/common';
import { DiscoveryService, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { BloomEventListener } from '../common/index.js';
import type { BloomGuardDefaults } from '../guard/index.js';
import {
  BLOOM_SERVICE,
  BLOOM_STORE,
  EventHub,
  FilterRegistry,
  namedFilters,
  rootModule,
  tokenOfFilter,
} from '../module/index.js';
import { DeferredFilter } from './deferred-filter.js';
import { FilterTokens } from './filter-tokens.js';
import { type Behaviour, type BloomTestIds, checkIds } from './tested-filters.js';
import { TestingRegistry } from './testing-registry.js';
import { TestingService } from './testing-service.js';
import { TestingStore } from './testing-store.js';

/** What guards answer, and where events go, as in the application. */
export interface BloomTestingOptions {
  /** What guards answer that do not say it themselves. */
  readonly guard?: BloomGuardDefaults;
  /** Called for each event. */
  readonly onEvent?: BloomEventListener;
  /** Whether events are written to Nest's log. */
  readonly logger?: boolean;
}

/** The builder of `@nestjs/testing`, as far as it is needed. */
export interface TestingBuilder {
  /** Puts another provider in the place of that of the token. */
  overrideProvider(token: unknown): {
    /** The other provider. */
    // oxlint-disable-next-line typescript/no-explicit-any -- as @nestjs/testing declares it
    useFactory(options: { factory: (...args: any[]) => unknown; inject?: any[] }): unknown;
  };
}

/**
 * In place of `BloomModule.forRoot()` in a test: guards and registers work as in the application, on exact
 * sets in memory. There are no false positives, nothing is scheduled, and no Redis is needed.
 *
 * @example
 * const app = await Test.createTestingModule({
 *   imports: [BloomTestingModule.of({ products: ['a', 'b'] })],
 *   providers: [ProductRepository],
 * }).compile();
 * await app.init();
 */
export class BloomTestingModule {
  /** Every lookup is "maybe", and every add succeeds: as if there were no guards. */
  static passAll(options?: BloomTestingOptions): DynamicModule {
    return testing({ kind: 'pass-all' }, options);
  }

  /**
   * Each filter that is named holds exactly these ids, and what is added. A filter that is registered and not
   * named passes everything.
   *
   * @throws {BloomConfigError} for what is no record of ids; at start for a decorator whose filter is neither
   * named nor registered.
   * @throws {BloomIdError} for a value that is not an id.
   */
  static of(ids: BloomTestIds, options?: BloomTestingOptions): DynamicModule {
    checkIds(ids);
    return testing({ kind: 'ids', ids }, options);
  }

  /** Every lookup is "unknown", every add rejects with `BloomUnavailableError`: as when Redis is away. */
  static down(options?: BloomTestingOptions): DynamicModule {
    return testing({ kind: 'down' }, options);
  }

  /**
   * The same for a test that imports the whole application, with its `BloomModule.forRoot()`.
   *
   * @example
   * const app = await BloomTestingModule.override(Test.createTestingModule({ imports: [AppModule] }), {
   * products: ['a'] }).compile();
   */
  static override<Builder extends TestingBuilder>(
    builder: Builder,
    filters: 'pass-all' | 'down' | BloomTestIds,
  ): Builder {
    let behaviour: Behaviour;
    if (typeof filters === 'string') {
      behaviour = { kind: filters };
    } else {
      checkIds(filters);
      behaviour = { kind: 'ids', ids: filters };
    }
    for (const { provide, inject, useFactory: factory } of stand(behaviour))
      builder.overrideProvider(provide).useFactory({ factory, inject });
    return builder;
  }
}

interface StandIn {
  readonly provide: symbol | Function;
  // oxlint-disable-next-line typescript/no-explicit-any -- tokens of any kind
  readonly inject: any[];
  // oxlint-disable-next-line typescript/no-explicit-any -- what is injected
  readonly useFactory: (...args: any[]) => unknown;
}

/** What stands in for the store and the registry of the application. */
function stand(behaviour: Behaviour): StandIn[] {
  return [
    { provide: BLOOM_STORE, inject: [], useFactory: () => new TestingStore(behaviour) },
    {
      provide: BLOOM_SERVICE,
      inject: [EventHub, ModulesContainer],
      useFactory: (events: EventHub, modules: ModulesContainer) =>
        new TestingService(events.emit, new FilterTokens(modules)),
    },
    {
      provide: FilterRegistry,
      inject: [BLOOM_STORE, BLOOM_SERVICE, EventHub, ModuleRef, ModulesContainer, DiscoveryService],
      useFactory: (
        store: TestingStore,
        service: TestingService,
        events: EventHub,
        moduleRef: ModuleRef,
        modules: ModulesContainer,
        discovery: DiscoveryService,
      ) => {
        const tokens = new FilterTokens(modules);
        return new TestingRegistry({ store, service, events, moduleRef, tokens, discovery }, behaviour);
      },
    },
  ];
}

function testing(behaviour: Behaviour, options: BloomTestingOptions = {}): DynamicModule {
  const named = behaviour.kind === 'ids' ? Object.keys(behaviour.ids) : [];
  const filters = [...named, ...namedFilters()].map((name): [string, Provider] => [
    name,
    {
      provide: tokenOfFilter(name),
      inject: [BLOOM_SERVICE],
      useFactory: (service: TestingService) => new DeferredFilter(name, () => service.filter(name)),
    },
  ]);
  return rootModule(options, { parts: stand(behaviour) as Provider[], filters: new Map(filters) });
}
