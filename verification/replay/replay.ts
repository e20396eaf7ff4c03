import type { Safety } from '../../test/support/broken-lua.js';
import { InstanceProcess } from './instance-process.js';
import { NOTHING, type Reply } from './instance-protocol.js';
import { startReplayedRedis, type Troubles } from './replayed-redis.js';
import { startSharedPostgres } from './shared-postgres.js';
import type { Trace } from './trace.js';

export interface ReplayResult extends Reply, Partial<Troubles> {
  readonly seconds: number;
  readonly instances: number;
}

export interface ReplayOptions {
  readonly trace: Trace;
  readonly limit: number;
  readonly without: Safety | undefined;
  readonly cluster: boolean;
  readonly leased: boolean;
  /** Order lines that will be replayed. */
  readonly lines: number;
  readonly onProgress: (lookups: number, created: number) => void;
}

const INSTANCES = 3;
const BATCH_LINES = 256;
/** Batches that wait for an instance. */
const MAX_WAITING = 6;

/**
 * Replays a shop's order lines as lookups on three instances that share one Redis and one Postgres. Every
 * product is created, by one of them, just before its first order line; every line after that must find it,
 * on any of them.
 */
export async function replay({
  trace,
  limit,
  without,
  cluster,
  leased,
  lines,
  onProgress,
}: ReplayOptions): Promise<ReplayResult> {
  const redis = await startReplayedRedis(cluster);
  const postgres = await startSharedPostgres();
  const instances: InstanceProcess[] = [];
  try {
    for (let i = 0; i < INSTANCES; i++) {
      const databaseUrl = postgres.url;
      instances.push(await InstanceProcess.start({ ...redis.address, databaseUrl, leased, without }));
    }
    const startedAt = performance.now();
    let total = await play(instances, trace, limit, (lookups, created) => {
      redis.reached(lookups / lines);
      onProgress(lookups, created);
    });
    const troubles = await redis.settled();
    const seconds = (performance.now() - startedAt) / 1000;
    for (const instance of instances) total = sum(total, await instance.stop());
    return { ...total, ...troubles, seconds: Math.round(seconds * 10) / 10, instances: INSTANCES };
  } finally {
    for (const instance of instances) instance.kill();
    await postgres.stop();
    await redis.stop();
  }
}

async function play(
  instances: readonly InstanceProcess[],
  trace: Trace,
  limit: number,
  onProgress: ReplayOptions['onProgress'],
): Promise<Reply> {
  const created = new Set<string>();
  const underWay = new Set<Promise<void>>();
  let total = NOTHING;
  let turn = 0;
  let batch: string[] = [];
  let failure: unknown;
  const next = () => instances[turn++ % instances.length]!;
  const count = (reply: Reply) => {
    total = sum(total, reply);
    onProgress(total.lookups, total.created);
  };
  const flush = () => {
    if (batch.length === 0) return;
    const answered: Promise<void> = next()
      .send({ type: 'lookup', skus: batch })
      .then(count, (error: unknown) => {
        failure = error;
      })
      .finally(() => underWay.delete(answered));
    underWay.add(answered);
    batch = [];
  };

  let lines = 0;
  for await (const sku of trace.orderLines) {
    if (failure) throw failure;
    if (++lines > limit) break;
    if (!created.has(sku)) {
      const product = trace.products.get(sku);
      if (!product)
        throw new Error(`The catalogue has no product '${sku}', which order line ${lines} sells.`);
      // Lines that came before need not wait for the product, nor the product for them.
      flush();
      count(await next().send({ type: 'create', product }));
      created.add(sku);
    }
    batch.push(sku);
    if (batch.length >= BATCH_LINES) flush();
    while (underWay.size >= MAX_WAITING) await Promise.race(underWay);
  }
  flush();
  await Promise.all(underWay);
  if (failure) throw failure;
  return total;
}

function sum(a: Reply, b: Reply): Reply {
  const keys = Object.keys(NOTHING) as (keyof Reply)[];
  return Object.fromEntries(keys.map((key) => [key, a[key] + b[key]])) as unknown as Reply;
}
