import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { type BloomFilter, BloomService } from 'nestjs-bloom';
import type { Catalogue } from '../catalogue/catalogue.js';
import { ShopStatistics } from '../statistics/shop-statistics.js';
import type { DemoResult, PhaseResult } from './demo-result.js';
import type { LoadPlan, LoadResult, RunLoad } from './load.js';
import type { Progress } from './progress.js';

export interface DemoSizes {
  /** Keep-alive connections, each with one request under way. */
  readonly users: number;
  readonly requestsPerPhase: number;
  readonly maxMsPerPhase: number;
}

export interface DemoOptions {
  readonly app: INestApplicationContext;
  readonly port: number;
  readonly catalogue: Catalogue;
  readonly orders: number;
  readonly sizes: DemoSizes;
  readonly runLoad: RunLoad;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

const FIRST_BUILD_MAX_MS = 60_000;
const GUARDED = '/products/';
const UNGUARDED = '/unguarded/products/';
const ORDERS = '/orders/';
const UNGUARDED_ORDERS = '/unguarded/orders/';
/** The seed of an attack makes its ids: both attacks are the same one. */
const SEEDS = { warmUp: 1, realTraffic: 2, attack: 3, laterTraffic: 4 } as const;

interface Phase {
  readonly name: string;
  readonly load: Pick<LoadPlan, 'path' | 'traffic' | 'seed' | 'create'>;
  readonly rebuilding?: boolean;
}

/** The comparison: a shop under real traffic and under attack, with and without the guard. */
export class Demo {
  private readonly statistics: ShopStatistics;
  private readonly filter: BloomFilter;

  constructor(private readonly options: DemoOptions) {
    this.statistics = options.app.get(ShopStatistics);
    this.filter = options.app.get(BloomService).filter('products');
  }

  async run(): Promise<DemoResult> {
    const { catalogue } = this.options;
    const store = await this.waitForFirstBuild();
    await this.warmUp();
    const phases: PhaseResult[] = [];
    for (const phase of phasesOfTheDemo()) phases.push(await this.runPhase(phase));
    return {
      store,
      catalog: { source: catalogue.source, products: catalogue.products.length },
      phases,
    };
  }

  /** @returns the kind of store the filters are in. */
  private async waitForFirstBuild(): Promise<string> {
    const filters = this.options.app.get(BloomService).filters();
    const deadline = performance.now() + FIRST_BUILD_MAX_MS;
    for (;;) {
      this.options.signal.throwIfAborted();
      const infos = await Promise.all(filters.map((filter) => filter.info()));
      const waiting = infos.filter(({ state }) => state !== 'ready');
      if (waiting.length === 0) return infos[0]!.store;
      if (performance.now() > deadline) {
        const states = waiting.map(({ name, state }) => `${name} is ${state}`).join(', ');
        throw new Error(
          `Expected all filters to be built within ${FIRST_BUILD_MAX_MS / 1000} s of the start, but ${states}.`,
        );
      }
      await delay(20);
    }
  }

  /**
   * Lets the code be compiled before anything is measured, and leaves the cache empty: none of these products
   * exists.
   */
  private async warmUp(): Promise<void> {
    const requests = Math.ceil(this.options.sizes.requestsPerPhase / 10);
    for (const path of [GUARDED, UNGUARDED])
      await this.load('warming up', { path, traffic: 'attack', seed: SEEDS.warmUp }, requests);
    for (const path of [ORDERS, UNGUARDED_ORDERS])
      await this.load('warming up', { path, traffic: 'cancelled', seed: SEEDS.warmUp }, requests);
  }

  private async runPhase({ name, load, rebuilding = false }: Phase): Promise<PhaseResult> {
    const { progress } = this.options;
    const before = this.statistics.snapshot();
    const loadEnded = new AbortController();
    const [result, rebuilds] = await Promise.all([
      this.load(name, load).finally(() => loadEnded.abort()),
      rebuilding ? this.rebuildUntil(loadEnded.signal) : 0,
    ]);
    const figures = this.statistics.since(before);
    progress.line(`${name}: ${result.requests} requests in ${result.seconds.toFixed(1)} s`);
    if (rebuilding)
      progress.line(`  meanwhile ${rebuilds} rebuilds finished and ${result.created} products were created`);
    return {
      name,
      requests: result.requests,
      requestsPerSecond: rounded(result.requests / result.seconds, 0),
      p50Ms: rounded(result.p50Ms, 2),
      p99Ms: rounded(result.p99Ms, 2),
      cacheHits: figures.cacheHits,
      databaseQueries: figures.databaseQueries,
      notFound: result.notFound,
      falsePositives: figures.falsePositives,
      wrongAbsent: result.wrongAbsent,
    };
  }

  private load(name: string, load: Phase['load'], maxRequests?: number): Promise<LoadResult> {
    const { port, catalogue, orders, sizes, runLoad, progress, signal } = this.options;
    const plan: LoadPlan = {
      ...load,
      port,
      skus: catalogue.products.map(({ sku }) => sku),
      orders,
      users: sizes.users,
      maxRequests: maxRequests ?? sizes.requestsPerPhase,
      maxMs: sizes.maxMsPerPhase,
    };
    return runLoad(plan, { onProgress: (share) => progress.show(name, share), signal });
  }

  /** One rebuild after the other, so that there is hardly a moment without one. */
  private async rebuildUntil(signal: AbortSignal): Promise<number> {
    let finished = 0;
    do {
      const { outcome } = await this.filter.rebuild();
      if (outcome === 'published') finished++;
      // The schedule or another instance rebuilds just now.
      else await delay(50);
    } while (!signal.aborted);
    return finished;
  }
}

function phasesOfTheDemo(): readonly Phase[] {
  // The database of the last run may still be there.
  const skuPrefix = `NEW ${randomBytes(4).toString('hex')} `;
  return [
    { name: 'real traffic', load: { path: GUARDED, traffic: 'real', seed: SEEDS.realTraffic } },
    { name: 'attack, no guard', load: { path: UNGUARDED, traffic: 'attack', seed: SEEDS.attack } },
    { name: 'attack, guarded', load: { path: GUARDED, traffic: 'attack', seed: SEEDS.attack } },
    {
      name: 'real traffic, rebuilding',
      load: {
        path: GUARDED,
        traffic: 'real',
        seed: SEEDS.laterTraffic,
        create: { skuPrefix, everyNthVisit: 20 },
      },
      rebuilding: true,
    },
    {
      name: 'orders, no guard',
      load: { path: UNGUARDED_ORDERS, traffic: 'cancelled', seed: SEEDS.attack },
    },
    { name: 'orders, guarded', load: { path: ORDERS, traffic: 'cancelled', seed: SEEDS.attack } },
  ];
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
