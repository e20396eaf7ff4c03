import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { Cluster } from 'ioredis';
import {
  type BloomEvent,
  type BloomFilter,
  type BloomRebuildError,
  type BloomRebuildFailure,
  BloomService,
  getBloomFilterToken,
} from 'nestjs-bloom';
import { ProductRepository } from '../../sample-app/src/catalogue/product.repository.js';
import type { Product } from '../../sample-app/src/catalogue/product.js';
import { Database } from '../../sample-app/src/database/database.js';
import { products } from '../../sample-app/src/database/schema.js';
import { ShopModule } from '../../sample-app/src/shop.module.js';
import type { BloomRedis } from '../../src/store/redis/index.js';
import { forkedOptions } from '../../test/support/forked-program.js';
import { byChosenClient, clusterByChosenClient } from '../shared/redis-client.js';
import { overrideStore } from '../shared/unsafe-store.js';
import { answerRequests } from './answered-requests.js';
import { type InstanceOptions, NOTHING, PARTITIONS, type Reply, type Request } from './instance-protocol.js';

/** Longer than any transaction of the replay from the registration to the commit. */
const DRAIN_MS = 250;
const COPY_LEASE_MS = 500;
const REBUILD_EVERY_MS = 1000;
/** The machine is busy on purpose: a lookup that is let through for want of time would prove nothing. */
const TIMEOUT_MS = 1000;

/**
 * Before the first product there is nothing to build, and the last run is cut short by the end of the replay.
 */
const EXPECTED_FAILURES = new Set<BloomRebuildFailure>(['too-few-ids', 'aborted']);

const options = forkedOptions<InstanceOptions>();
const rebuilds = { finished: 0, skipped: 0 };
/** That of ioredis, if it is used. */
let cluster: Cluster | undefined;
const app = await startShop();
const filter = app.get<BloomFilter>(getBloomFilterToken('products'), { strict: false });
const repository = app.get(ProductRepository, { strict: false });
const database = app.get(Database, { strict: false });

answerRequests(handle);

async function startShop() {
  const { redisUrl, natMap, databaseUrl, leased, without } = options;
  const drainMs = leased ? DRAIN_MS + 2 * COPY_LEASE_MS : DRAIN_MS;
  const module = Test.createTestingModule({
    imports: [
      ShopModule.forRoot({
        redisUrl,
        databaseUrl,
        partitions: natMap ? PARTITIONS : undefined,
        leaseMs: leased ? COPY_LEASE_MS : undefined,
        rebuild: { everyMs: REBUILD_EVERY_MS, drainMs, onBoot: 'never' },
        onBloomEvent: onEvent,
      }),
    ],
  });
  overrideStore(module, {
    redis: natMap ? clusterClient(redisUrl, natMap) : byChosenClient(redisUrl),
    timeoutMs: TIMEOUT_MS,
    writeTimeoutMs: 10_000,
    trustAfterFailover: false,
    emit: onEvent,
    hasCopies: leased,
    without,
  });
  const compiled = await module.compile();
  compiled.useLogger(false);
  return compiled.init();
}

/** Follows slots and replicas that take over. */
function clusterClient(url: string, natMap: NonNullable<InstanceOptions['natMap']>): BloomRedis {
  const { hostname, port } = new URL(url);
  return clusterByChosenClient([{ host: hostname, port: Number(port) }], natMap, () => {
    cluster = new Cluster([url], {
      natMap,
      clusterRetryStrategy: () => 50,
      slotsRefreshInterval: 500,
      redisOptions: { connectTimeout: 500 },
    });
    // What a lookup or an add needs of it is reported there.
    cluster.on('error', () => {});
    return cluster;
  });
}

function onEvent(event: BloomEvent): void {
  if ('filter' in event && event.filter !== 'products') return;
  if (event.type === 'rebuild-finished') rebuilds.finished++;
  if (event.type === 'rebuild-skipped') rebuilds.skipped++;
  if (event.type === 'rebuild-failed' && EXPECTED_FAILURES.has((event.error as BloomRebuildError).reason))
    return;
  if (event.type === 'rebuild-failed' || event.type === 'store-error') {
    process.stderr.write(`${event.type}: ${String(event.error)}\n`);
  }
}

async function handle(request: Request): Promise<Reply> {
  switch (request.type) {
    case 'create':
      return create(request.product);
    case 'lookup':
      return lookUp(request.skus);
    case 'stop':
      return stop();
  }
}

async function stop(): Promise<Reply> {
  const metrics = app.get(BloomService, { strict: false }).metrics();
  const { lookups } = metrics.find((one) => one.filter === 'products')!;
  await app.close();
  if (cluster) endWith(cluster);
  return { ...NOTHING, rebuilds: rebuilds.finished, skipped: rebuilds.skipped, fromCopies: lookups.local };
}

/**
 * The application leaves a client open that was handed to it. A cluster client that is disconnected while it
 * refreshes its slots goes on refreshing them, which keeps the process from ending.
 */
function endWith(client: Cluster): void {
  client.disconnect();
  process.once('disconnect', () => process.exit());
}

async function create(product: Product): Promise<Reply> {
  const verdict = await filter.check(product.sku);
  await database.orm.transaction(async (transaction) => {
    await transaction.insert(products).values({ ...product, createdAt: new Date(product.createdAt) });
    await filter.add(product.sku);
  });
  return {
    ...NOTHING,
    created: 1,
    falsePositives: verdict === 'maybe' ? 1 : 0,
    unknown: verdict === 'unknown' ? 1 : 0,
  };
}

async function lookUp(skus: readonly string[]): Promise<Reply> {
  const found = await Promise.all(skus.map((sku) => repository.findBySku(sku)));
  return {
    ...NOTHING,
    lookups: skus.length,
    wrongAbsent: found.filter((product) => product === null).length,
  };
}
