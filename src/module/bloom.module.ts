import { type DynamicModule, Module, type NestModule, type Provider } from '@nestjs/common';
import {
  APP_FILTER,
  DiscoveryModule,
  DiscoveryService,
  HttpAdapterHost,
  MetadataScanner,
  ModuleRef,
} from '@nestjs/core';
import { BloomConfigError } from '../common/index.js';
import { answerEarly, BloomGuardRunner, budgetOf, GuardValidator, OverloadFilter } from '../guard/index.js';
import { BloomFilter, BloomService, ClientCounts } from '../service/index.js';
import type { FilterStore } from '../store/index.js';
import { createStore, heartbeatOf, ownerOf } from './store-factory.js';
import { AttackMonitor } from './attack-monitor.js';
import type {
  AnyModuleOptions,
  BloomFactoryOptions,
  BloomFeature,
  BloomFeatureAsyncOptions,
  BloomModuleAsyncOptions,
  BloomModuleOptions,
  BloomOptionsFactory,
  BloomServerlessOptions,
} from './bloom-module-options.js';
import { BloomLifecycle } from './bloom-lifecycle.js';
import {
  BLOOM_OPTIONS,
  BLOOM_SERVICE,
  BLOOM_STORE,
  missingFilterProviders,
  missingFilters,
  type Setup,
  SETUP,
  setupProvider,
  tokenOfFilter,
} from './bloom-tokens.js';
import { EventHandlers, EventHub } from './event-hub.js';
import { assertDistinct, filterProviders, listOf } from './filter-providers.js';
import { FilterRegistry } from './filter-registry.js';
import { FilterMonitor } from './filter-monitor.js';
import { NO_OPTIONS_FACTORY } from './module.messages.js';
import {
  checkedFactoryOptions,
  checkFeatureAsync,
  checkRootAsyncOptions,
  checkRootOptions,
  checkTestingOptions,
} from './module-options-check.js';
import { RebuildScheduler } from './rebuild-scheduler.js';

/** Visible everywhere, so that a decorator works in any module. */
@Module({})
class BloomCoreModule implements NestModule {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly discovery: DiscoveryService,
    private readonly runner: BloomGuardRunner,
  ) {}

  /** Called before Nest registers the routes. */
  configure(): void {
    if (BloomGuardRunner.isRunner(this.runner))
      answerEarly(this.runner, this.discovery, this.host.httpAdapter);
  }
}

/**
 * Creates the filters of an application, keeps them up to date, and provides them to its guards. Import
 * `forRoot` once, in the root module, and `forFeature` in the modules whose ids the filters hold.
 *
 * @example
 * imports: [
 *   ScheduleModule.forRoot(),
 *   BloomModule.forRoot({ redis: 'redis://localhost:6379' }),
 *   BloomModule.forFeature([
 *     { name: 'products', capacity: 1_000_000, source: ProductIds, rebuild: { cron: '0 4 * * *' } },
 *   ]),
 * ]
 */
@Module({})
export class BloomModule {
  /** Once for an application: where filters are, and what holds for all of them. */
  static forRoot(options: BloomModuleOptions | BloomServerlessOptions = {}): DynamicModule {
    checkRootOptions(options);
    return root([{ provide: BLOOM_OPTIONS, useValue: options }], options);
  }

  /** `filters` and `isGlobal` are needed before the factory runs, so they stand beside it. */
  static forRootAsync(options: BloomModuleAsyncOptions): DynamicModule {
    checkRootAsyncOptions(options);
    return root(asyncOptions(options), options);
  }

  /**
   * Registers filters, in the module of what uses them.
   *
   * @param features the filters, or one.
   */
  static forFeature(features: BloomFeature | readonly BloomFeature[]): DynamicModule {
    const list = listOf(features, 'forFeature');
    return feature(list.flatMap((options) => filterProviders(options.name, { useFactory: () => options })));
  }

  /**
   * The same for filters whose options a factory makes.
   *
   * @param features the filters, or one.
   */
  static forFeatureAsync(
    features: BloomFeatureAsyncOptions | readonly BloomFeatureAsyncOptions[],
  ): DynamicModule {
    const list = listOf(features, 'forFeatureAsync');
    for (const options of list) checkFeatureAsync(options);
    const providers = list.flatMap(({ name, ...options }) => filterProviders(name, options));
    return feature(
      providers,
      list.flatMap((options) => options.imports ?? []),
    );
  }
}

let calls = 0;
/** Nest 10 takes dynamic modules that are written alike for one. This tells each from the others. */
const apart = () => ({ call: ++calls });

type Imports = NonNullable<DynamicModule['imports']>;
type RootOptions = Pick<BloomModuleAsyncOptions, 'isGlobal' | 'filters' | 'imports'>;

function root(
  options: Provider[],
  { isGlobal = true, filters = [], imports = [] }: RootOptions,
): DynamicModule {
  assertDistinct(filters, 'forRoot');
  const providers = filters.flatMap((filter) => filterProviders(filter.name, { useFactory: () => filter }));
  return visible({ isGlobal, core: core(options, imports), filters: providers });
}

interface OtherProviders {
  /** They take the place of those with the same token. */
  readonly parts: readonly Provider[];
  /** Filters by their names, whether they are registered or not. */
  readonly filters: ReadonlyMap<string, Provider>;
}

/** The root module with other parts than its own, for tests of applications. */
export function rootModule(options: BloomFactoryOptions, others: OtherProviders): DynamicModule {
  checkTestingOptions(options);
  const made = core([{ provide: BLOOM_OPTIONS, useValue: options }], [], others);
  return visible({ isGlobal: true, core: made, filters: [...others.filters.values()] });
}

function visible({
  isGlobal,
  core,
  filters,
}: {
  isGlobal: boolean;
  core: DynamicModule;
  filters: readonly Provider[];
}): DynamicModule {
  const service = { provide: BloomService, useExisting: BLOOM_SERVICE };
  const providers = [service, ...filters];
  return {
    ...apart(),
    module: BloomModule,
    global: isGlobal,
    imports: [core],
    providers,
    exports: providers,
  };
}

function core(options: Provider[], imports: Imports, others?: OtherProviders): DynamicModule {
  const missing = () => missingFilters().filter((name) => !others?.filters.has(name));
  const providers: Provider[] = [
    setupProvider(BloomCoreModule),
    ...options,
    {
      provide: EventHub,
      inject: [BLOOM_OPTIONS, SETUP],
      useFactory: (options: AnyModuleOptions) => new EventHub(options),
    },
    {
      provide: BLOOM_STORE,
      inject: [BLOOM_OPTIONS, EventHub],
      useFactory: createStore,
    },
    {
      provide: BLOOM_SERVICE,
      inject: [EventHub, BLOOM_OPTIONS],
      useFactory: ({ emit }: EventHub, { attack }: AnyModuleOptions) =>
        new BloomService(emit, attack && attack.client ? new ClientCounts(attack, emit) : undefined),
    },
    {
      provide: FilterRegistry,
      inject: [BLOOM_STORE, BLOOM_SERVICE, EventHub, ModuleRef, BLOOM_OPTIONS],
      useFactory: (
        store: FilterStore,
        service: BloomService,
        events: EventHub,
        moduleRef: ModuleRef,
        options: AnyModuleOptions,
      ) =>
        new FilterRegistry({
          store,
          service,
          events,
          moduleRef,
          heartbeat: heartbeatOf(options),
          budget: budgetOf(options.guard),
          runtime: options.runtime,
        }),
    },
    { provide: APP_FILTER, useClass: OverloadFilter },
    {
      provide: BloomGuardRunner,
      inject: [BLOOM_SERVICE, BLOOM_OPTIONS],
      useFactory: (service: BloomService, { guard }: AnyModuleOptions) =>
        new BloomGuardRunner({ service, ...(guard && { defaults: guard }) }),
    },
    {
      provide: BloomLifecycle,
      inject: [
        BLOOM_STORE,
        BLOOM_SERVICE,
        FilterRegistry,
        BloomGuardRunner,
        EventHub,
        ModuleRef,
        DiscoveryService,
        MetadataScanner,
        BLOOM_OPTIONS,
        SETUP,
      ],
      useFactory: (
        store: FilterStore,
        service: BloomService,
        registry: FilterRegistry,
        runner: BloomGuardRunner,
        events: EventHub,
        moduleRef: ModuleRef,
        discovery: DiscoveryService,
        scanner: MetadataScanner,
        options: AnyModuleOptions,
        setup: Setup,
      ) => {
        const validator = new GuardValidator(discovery, service);
        const isRecorded = (filter: string) => runner.recorded.has(filter) || validator.isRegistered(filter);
        const watch = new FilterMonitor(events.emit, (listener) => events.listen(listener), {
          hasOwner: hasOwner(options),
          isRecorded,
        });
        return new BloomLifecycle({
          runtime: options.runtime,
          setup,
          store,
          registry,
          runner,
          events,
          handlers: new EventHandlers(discovery, scanner),
          scheduler: new RebuildScheduler(moduleRef, events),
          watch,
          attacks:
            options.attack === false
              ? undefined
              : new AttackMonitor(options.attack ?? {}, service, events.emit),
          validator,
        });
      },
    },
  ];
  return {
    ...apart(),
    module: BloomCoreModule,
    global: true,
    imports: [DiscoveryModule, ...imports],
    // Read when the modules are scanned: every decorator has run by then.
    get providers() {
      return [...missingFilterProviders(BloomCoreModule, missing()), ...providers, ...(others?.parts ?? [])];
    },
    get exports() {
      const tokens = missing().map(tokenOfFilter);
      return [FilterRegistry, EventHub, BloomGuardRunner, BLOOM_SERVICE, BloomFilter, ...tokens];
    },
  };
}

/** Filters in memory belong to this process alone. */
function hasOwner({ redis, owner }: AnyModuleOptions): boolean {
  return redis === undefined || owner === false || ownerOf(owner) !== undefined;
}

function feature(providers: Provider[], imports: Imports = []): DynamicModule {
  return { ...apart(), module: BloomModule, imports, providers, exports: providers };
}

function asyncOptions({
  useFactory,
  inject = [],
  useClass,
  useExisting,
}: BloomModuleAsyncOptions): Provider[] {
  if (useFactory) {
    const made = async (...injected: unknown[]) => checkedFactoryOptions(await useFactory(...injected));
    return [{ provide: BLOOM_OPTIONS, inject: [...inject], useFactory: made }];
  }
  const factory = useExisting ?? useClass;
  if (!factory) {
    throw new BloomConfigError(NO_OPTIONS_FACTORY);
  }
  return [
    ...(useClass ? [useClass] : []),
    {
      provide: BLOOM_OPTIONS,
      inject: [factory],
      useFactory: async (made: BloomOptionsFactory) => checkedFactoryOptions(await made.createBloomOptions()),
    },
  ];
}
