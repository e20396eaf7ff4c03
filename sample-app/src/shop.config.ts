import type { BloomEventListener, BloomRebuildSchedule } from 'nestjs-bloom';
import type { Product } from './catalogue/product.js';
import type { ShopDashboardOptions } from './shop-dashboard.module.js';

/** All that may differ from one shop to another. Only the programs that start one read the environment. */
export interface ShopConfig {
  /** Without it Postgres runs embedded in this process. */
  readonly databaseUrl?: string | undefined;
  /** Without it the filters live in this process. */
  readonly redisUrl?: string | undefined;
  /** Put before the keys in Redis. */
  readonly keyPrefix?: string | undefined;
  /** Divides the filter of the products over the nodes of a cluster. */
  readonly partitions?: number | undefined;
  /**
   * Has the copy of the filter of the products answer "absent" without Redis, for so many milliseconds at a
   * time.
   */
  readonly leaseMs?: number | undefined;
  readonly initialProducts?: readonly Product[];
  /** Orders of an empty table, each tenth of which was cancelled. */
  readonly initialOrders?: number;
  readonly rebuild?: BloomRebuildSchedule;
  /** Set by a test that counts what lookups of absent ids cost. */
  readonly audit?: false;
  /** Without it the shop has no dashboard. */
  readonly dashboard?: ShopDashboardOptions | undefined;
  /** Without it what the filters have to tell goes to the log. */
  readonly onBloomEvent?: BloomEventListener;
}

/**
 * How long a rebuild waits until every product registered before it has its row. Embedded Postgres runs one
 * statement after the other, so an insert that came first is done when the scan begins; a server has a pool
 * of connections where an insert may queue.
 */
const EMBEDDED_DRAIN_MS = 200;
const SERVER_DRAIN_MS = 2_000;

export function readShopConfig(environment: NodeJS.ProcessEnv): ShopConfig {
  const databaseUrl = environment['DATABASE_URL'] || undefined;
  const password = environment['DASHBOARD_PASSWORD'] || undefined;
  return {
    databaseUrl,
    redisUrl: environment['REDIS_URL'] || undefined,
    dashboard: password === undefined ? undefined : { password },
    rebuild: {
      cron: '0 4 * * *',
      onBoot: 'if-missing',
      drainMs: databaseUrl ? SERVER_DRAIN_MS : EMBEDDED_DRAIN_MS,
    },
  };
}
