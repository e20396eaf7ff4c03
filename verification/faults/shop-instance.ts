import 'reflect-metadata';
import { Inject, Injectable, type INestApplicationContext, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import {
  type BloomEvent,
  type BloomFilter,
  type BloomFilterOptions,
  BloomGuarded,
  BloomModule,
  type BloomModuleOptions,
  BloomRegisters,
  type BloomServerlessOptions,
  BloomService,
  getBloomFilterToken,
} from 'nestjs-bloom';
import type { BloomRedis } from '../../src/store/redis/index.js';
import { byChosenClient } from '../shared/redis-client.js';
import type { Safety } from '../../test/support/broken-lua.js';
import { overrideStore } from '../shared/unsafe-store.js';
import { drainOf, FILTER, FILTER_KINDS, type FilterKindName, filterOptions } from './filter-kinds.js';
import type { Row, ShopDatabase } from './shop-database.js';
import { LEASE_MS, WRITE_TIMEOUT_MS } from './timings.js';

const TABLE = Symbol('table');
const OWNER = 'shop';
const EVENTS_KEPT = 200;

@Injectable()
export class Shop {
  constructor(@Inject(TABLE) private readonly table: ShopDatabase) {}

  /** Null for a row that is not there, or not yet; `absent` is the guard's answer. */
  @BloomGuarded(FILTER, { onAbsent: () => 'absent' })
  async find(id: string): Promise<Row | 'absent' | null> {
    return (await this.table.find(id)) ?? null;
  }

  /** `onAdded` is called when the add was acknowledged, before the row is written. */
  @BloomRegisters(FILTER)
  async create(id: string, onAdded: () => void): Promise<void> {
    onAdded();
    await this.table.insert(id);
  }
}

export interface ShopInstanceOptions {
  readonly redis: BloomRedis;
  readonly table: ShopDatabase;
  readonly kind: FilterKindName;
  readonly timeoutMs: number;
  readonly capacity: number;
  readonly trustAfterFailover?: boolean;
  readonly leaseMs?: number | undefined;
  /** Reading of its copy; that of the kind unless it says so. */
  readonly copyLeaseMs?: number | undefined;
  /** Without it only what is lost is rebuilt. */
  readonly everyMs?: number | undefined;
  /** The application that it is an instance of; that of the shop unless it says so. */
  readonly owner?: string | undefined;
  /** In place of what the kind and the times of the shop say. */
  readonly filter?: Partial<BloomFilterOptions>;
  /** Undefined: that of the shop. */
  readonly writeTimeoutMs?: number;
  /** Undefined for a process that always runs. */
  readonly runtime?: 'serverless';
  readonly without: Safety | undefined;
}

/** One instance of the shop: a real application with a filter, a guarded lookup and a registering create. */
export class ShopInstance {
  readonly events: BloomEvent[] = [];
  readonly timeoutMs: number;
  private app!: INestApplicationContext;
  private closing: Promise<void> | undefined;

  private constructor(private options: ShopInstanceOptions) {
    this.timeoutMs = options.timeoutMs;
  }

  static async start(options: ShopInstanceOptions): Promise<ShopInstance> {
    const instance = new ShopInstance(options);
    await instance.startAgain();
    return instance;
  }

  /** A new process in the place of the one that was closed. */
  async startAgain(): Promise<void> {
    this.app = await createShop(this.options, (event) => this.note(event));
    this.closing = undefined;
  }

  /**
   * A process with these options of the filter in the place of this one, which ends when the other has
   * started.
   */
  async roll(filter: Partial<BloomFilterOptions>): Promise<void> {
    const before = this.app;
    this.options = { ...this.options, filter };
    await this.startAgain();
    await before.close();
  }

  get shop(): Shop {
    return this.app.get(Shop);
  }

  get filter(): BloomFilter {
    return this.app.get<BloomFilter>(getBloomFilterToken(FILTER), { strict: false });
  }

  get bloom(): BloomService {
    return this.app.get(BloomService, { strict: false });
  }

  close(): Promise<void> {
    this.closing ??= this.app.close();
    return this.closing;
  }

  private note(event: BloomEvent): void {
    if (event.type === 'rebuild-progress') return;
    this.events.push(event);
    if (this.events.length > EVENTS_KEPT) this.events.shift();
  }
}

export async function createShop(
  instance: ShopInstanceOptions,
  onEvent: (event: BloomEvent) => void,
): Promise<INestApplicationContext> {
  const { redis, table, kind, timeoutMs, capacity, trustAfterFailover = false, without } = instance;
  const { leaseMs = LEASE_MS, copyLeaseMs, everyMs, owner = OWNER } = instance;
  const { filter, writeTimeoutMs = WRITE_TIMEOUT_MS, runtime } = instance;
  const options: BloomModuleOptions | BloomServerlessOptions = {
    redis: byChosenClient(redis),
    timeoutMs,
    writeTimeoutMs,
    trustAfterFailover,
    owner,
    ...(runtime ? { runtime } : { heartbeat: true }),
    onEvent,
    filters: [
      {
        ...filterOptions(kind, capacity, copyLeaseMs),
        // The method would answer in place of the filter, whose answers are judged.
        audit: false,
        ...(FILTER_KINDS[kind].hasSource ? { source: table } : {}),
        rebuild: {
          drainMs: drainOf(kind, copyLeaseMs),
          leaseMs,
          ...(everyMs !== undefined && { everyMs }),
        },
        ...filter,
      },
    ],
  };

  @Module({
    imports: [...(everyMs === undefined ? [] : [ScheduleModule.forRoot()]), BloomModule.forRoot(options)],
    providers: [Shop, { provide: TABLE, useValue: table }],
  })
  class ShopModule {}

  const module = Test.createTestingModule({ imports: [ShopModule] });
  if (without) {
    overrideStore(module, {
      redis,
      timeoutMs,
      writeTimeoutMs,
      trustAfterFailover,
      owner,
      emit: onEvent,
      without,
    });
  }
  const app = await module.compile();
  app.useLogger(false);
  return app.init();
}
