import type { FactoryProvider, ModuleMetadata, Type } from '@nestjs/common';
import type { BloomEventListener } from '../common/index.js';
import type { BloomGuardDefaults } from '../guard/index.js';
import type { BloomAttackOptions, BloomFilterOptions } from '../service/index.js';
import type { BloomParallelSource } from '../sources/index.js';
import type { BloomRedis } from '../store/redis/index.js';
import type { CopyLimits } from '../store/local-copy/index.js';

/** A store that implements `FilterStore` of `nestjs-bloom/store`. */
export interface BloomStoreLike {
  /** For people: `memory`, `redis`, … */
  readonly kind: string;
  /** Opens a filter. */
  open(options: never): object;
  /** Closes the store with the application. */
  close(): Promise<void>;
}

/** Options of `BloomModule.forRoot`. */
export interface BloomModuleOptions {
  /** `serverless` in a process that stands still between calls: see `BloomServerlessOptions`. */
  readonly runtime?: undefined;
  /**
   * A URL, ioredis options, an ioredis client or a Cluster, or `fromNodeRedis(client)` of
   * `@nestjs-bloom/node-redis`. Without it filters are in the memory of this process.
   */
  readonly redis?: BloomRedis;
  /**
   * A store of your own, in place of `redis`: see `nestjs-bloom/store`. It is closed with the application.
   */
  readonly store?: BloomStoreLike;
  /** Head of every key in Redis. Default `bloom`. */
  readonly keyPrefix?: string;
  /**
   * The application that claims filters in Redis; a filter of another application is an error at start, and
   * `unknown`. Default: the name in the package.json nearest to the main module. Applications that share rows
   * on purpose set the same one; `false` claims and compares nothing.
   */
  readonly owner?: string | false;
  /** Filters of the whole application; others are of `forFeature`. */
  readonly filters?: readonly BloomFeature[];
  /** What guards answer that do not say it themselves. */
  readonly guard?: BloomGuardDefaults;
  /** Whether `BloomService` and `filters` can be injected in every module. Default true. */
  readonly isGlobal?: boolean;
  /**
   * Longest time that a lookup waits for Redis, in milliseconds; after that it goes through. Default 25; 250
   * with `runtime: 'serverless'`, where a lookup may have to connect.
   */
  readonly timeoutMs?: number;
  /** Longest time that an add, or a step of a rebuild, waits for Redis, in milliseconds. Default 2,000. */
  readonly writeTimeoutMs?: number;
  /**
   * Trusts a filter after its server restarted or failed over. Default false: acknowledged adds may be lost,
   * so the filter answers `unknown` until it is rebuilt.
   */
  readonly trustAfterFailover?: boolean;
  /**
   * What local copies (option `replica`) may take together: `bytesPerSecond` read from Redis, default 8 MiB,
   * and `maxBytes` of memory, default 256 MiB. An `advice` reports a filter without room for a copy.
   */
  readonly copies?: Partial<CopyLimits>;
  /**
   * When lookups of absent ids are reported as an attack, and whether they are counted by client. `false`:
   * never. Default: reported, by the defaults of `BloomAttackOptions`, and not counted by client.
   */
  readonly attack?: BloomAttackOptions | false;
  /**
   * Whether this process always reports its metrics to Redis, for `instances()` of any process: `true`, or
   * every `everyMs`, default 1,000. Default: only where a dashboard, `instances()` or a mode for all is used,
   * and while it rebuilds. `false`: never, and it does not follow a mode for all either.
   */
  readonly heartbeat?: BloomHeartbeat | boolean;
  /** Called for each event; see also `@OnBloomEvent`. */
  readonly onEvent?: BloomEventListener;
  /** Whether events are written to Nest's log. Default true. */
  readonly logger?: boolean;
}

/**
 * Options of `BloomModule.forRoot` in a process that stands still between calls, as on AWS Lambda or Cloud
 * Run. It has no timers and no copies, and connects at the first lookup or add. Rebuilds are those of the
 * command line. See docs/recipes/serverless.md.
 */
export interface BloomServerlessOptions extends Omit<
  BloomModuleOptions,
  'runtime' | 'redis' | 'store' | 'copies' | 'attack' | 'heartbeat'
> {
  /** Nothing runs between calls. */
  readonly runtime: 'serverless';
  /** As for other processes. */
  readonly redis: BloomRedis;
  /** No process of this kind reports attacks. */
  readonly attack?: false;
  /** No process of this kind reports itself. */
  readonly heartbeat?: false;
}

/** Options of any process, as the parts of the module take them. */
export type AnyModuleOptions = Omit<BloomModuleOptions, 'runtime'> & {
  readonly runtime?: BloomServerlessOptions['runtime'] | undefined;
};

/** The option `heartbeat`. */
export interface BloomHeartbeat {
  /** Milliseconds between two reports, from 1,000 to 60,000. Others believe one for five times as long. */
  readonly everyMs?: number;
}

/**
 * A filter whose source may also be a provider class, a factory, or an array of sources that are read in
 * parallel.
 */
export interface BloomFeature extends Omit<BloomFilterOptions, 'source'> {
  /** What returns the ids of all rows. */
  readonly source?: BloomParallelSource | readonly BloomParallelSource[];
}

/** What a factory may make: all options but those that take part in making the module. */
export type BloomFactoryOptions =
  Omit<BloomModuleOptions, 'isGlobal' | 'filters'> | Omit<BloomServerlessOptions, 'isGlobal' | 'filters'>;

/** A class that makes the options, for `useClass` and `useExisting`. */
export interface BloomOptionsFactory {
  /** Returns the options. */
  createBloomOptions(): BloomFactoryOptions | Promise<BloomFactoryOptions>;
}

/**
 * Options of `BloomModule.forRootAsync`: one of `useFactory`, `useClass` and `useExisting` makes the options.
 */
export interface BloomModuleAsyncOptions
  extends Pick<BloomModuleOptions, 'isGlobal' | 'filters'>, Pick<ModuleMetadata, 'imports'> {
  /** Makes the options of what `inject` names. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what is injected is the factory's own affair
  readonly useFactory?: (...args: any[]) => BloomFactoryOptions | Promise<BloomFactoryOptions>;
  /** Tokens of its arguments. */
  readonly inject?: FactoryProvider['inject'];
  /** A class that makes the options, constructed for it. */
  readonly useClass?: Type<BloomOptionsFactory>;
  /** A provider that makes the options. */
  readonly useExisting?: Type<BloomOptionsFactory>;
}

/** One filter of `BloomModule.forFeatureAsync`: `useFactory` makes all of its options but the name. */
export interface BloomFeatureAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** The filter's name. */
  readonly name: string;
  /** Makes the options of what `inject` names. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what is injected is the factory's own affair
  readonly useFactory: (...args: any[]) => Omit<BloomFeature, 'name'> | Promise<Omit<BloomFeature, 'name'>>;
  /** Tokens of its arguments. */
  readonly inject?: FactoryProvider['inject'];
}
