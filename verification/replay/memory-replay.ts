import { requirePostgres } from '../../test/support/postgres-server.js';
import { InstanceProcess } from './instance-process.js';
import { type MemoryReply, NOTHING } from './instance-protocol.js';
import type { Trace } from './trace.js';

export interface MemoryReplayOptions {
  readonly trace: Trace;
  readonly limit: number;
  readonly onProgress: (lookups: number, created: number) => void;
}

export interface MemoryReplayResult extends MemoryReply {
  readonly seconds: number;
  readonly instances: number;
}

const INSTANCES = 3;
const BATCH_LINES = 256;
const MOST_UNDER_WAY = 12;
/** Longer than the overlap of the instances now and then. */
const LONGEST_OPEN_MS = 2000;

/**
 * Replays order lines on three instances that have the filter in memory, and share a server of Postgres and
 * nothing else. Each product is a row that nobody adds, in a transaction that stays open for some time, while
 * others commit later ids. Each line after its commit asks one instance for its id, and for one of no row.
 */
export async function replayInMemory({
  trace,
  limit,
  onProgress,
}: MemoryReplayOptions): Promise<MemoryReplayResult> {
  const postgres = await requirePostgres();
  const instances: InstanceProcess[] = [];
  try {
    await postgres.run('create table products (id bigserial primary key)');
    for (let i = 0; i < INSTANCES; i++)
      instances.push(await InstanceProcess.start({ databaseUrl: postgres.url }, './memory-instance.ts'));
    const startedAt = performance.now();
    let total = await play(instances, trace, limit, onProgress);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    for (const instance of instances) total = sum(total, await instance.stop());
    return { ...total, seconds, instances: INSTANCES };
  } finally {
    for (const instance of instances) instance.kill();
    await postgres.stop();
  }
}

async function play(
  instances: readonly InstanceProcess[],
  trace: Trace,
  limit: number,
  onProgress: MemoryReplayOptions['onProgress'],
): Promise<MemoryReply> {
  const ids = new Map<string, readonly number[] | undefined>();
  const underWay = new Set<Promise<void>>();
  let total: MemoryReply = NOTHING;
  let failure: unknown;
  let turn = 0;
  let batch: (readonly number[])[] = [];
  const send = (request: Parameters<InstanceProcess['send']>[0], then: (reply: MemoryReply) => void) => {
    const one: Promise<void> = instances[turn++ % instances.length]!.send(request)
      .then(
        (reply) => {
          total = sum(total, reply);
          then(reply);
        },
        (error: unknown) => void (failure = error),
      )
      .finally(() => underWay.delete(one));
    underWay.add(one);
  };
  const flush = () => {
    if (batch.length > 0)
      send({ type: 'lookup', ids: batch.map(([id]) => id!), others: batch.map(([, none]) => none!) }, () =>
        onProgress(total.lookups, total.created),
      );
    batch = [];
  };
  let lines = 0;
  for await (const sku of trace.orderLines) {
    if (failure) throw failure;
    if (++lines > limit) break;
    const made = ids.get(sku);
    if (made) batch.push(made);
    else if (!ids.has(sku)) {
      ids.set(sku, undefined);
      const openMs = LONGEST_OPEN_MS * Math.random() ** 20;
      send({ type: 'create', openMs }, ({ ids: own }) => ids.set(sku, own));
    }
    if (batch.length >= BATCH_LINES) flush();
    while (underWay.size >= MOST_UNDER_WAY) await Promise.race(underWay);
  }
  flush();
  await Promise.all(underWay);
  if (failure) throw failure;
  return total;
}

function sum(a: MemoryReply, b: MemoryReply): MemoryReply {
  const keys = Object.keys({ ...NOTHING, denied: 0 }) as Exclude<keyof MemoryReply, 'ids'>[];
  return Object.fromEntries(
    keys.map((key) => [key, (a[key] ?? 0) + (b[key] ?? 0)]),
  ) as unknown as MemoryReply;
}
