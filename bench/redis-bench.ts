import { Redis } from 'ioredis';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { type BloomEvent, systemClock } from '../src/common/index.js';
import type { BloomIdSource } from '../src/rebuild/index.js';
import {
  type BloomFilter,
  type BloomFilterOptions,
  defineFilter,
  ManagedFilter,
} from '../src/service/index.js';
import type { BloomReplicaMode, FilterStore } from '../src/store/index.js';
import { type BloomRedis, RedisStore } from '../src/store/redis/index.js';
import { LocalCopyStore } from '../src/store/local-copy/index.js';
import { startRedis } from '../test/support/redis-server.js';
import { assert, type BenchContext } from './harness.js';
import { idText, idTexts } from './ids.js';

const IDS_PER_BATCH = 10_000;

/** A server of its own, and a client with its default options. */
export async function redisBench(context: BenchContext): Promise<{ url: string; client: Redis }> {
  const server = await startRedis();
  context.cleanUp(() => server.stop());
  return { url: server.url, client: clientOf(server.url, context) };
}

export function clientOf(url: string, context: BenchContext): Redis {
  const client = new Redis(url);
  context.cleanUp(() => client.disconnect());
  return client;
}

/** A filter as an application has it, with a client of its own. A failure of any kind ends the benchmark. */
export async function openFilter(
  redis: BloomRedis,
  options: Omit<BloomFilterOptions, 'name'>,
  context: Pick<BenchContext, 'cleanUp'>,
  isCounted = true,
): Promise<ManagedFilter> {
  const emit = (event: BloomEvent) => {
    if ('error' in event) throw event.error;
  };
  const inRedis = await RedisStore.connect({
    redis,
    keyPrefix: 'bench',
    timeoutMs: 5000,
    writeTimeoutMs: 10_000,
    trustAfterFailover: false,
    emit,
  });
  const counting = new LocalCopyStore(inRedis);
  const store: FilterStore = isCounted
    ? counting
    : {
        kind: counting.kind,
        open: (opened) => counting.open({ ...opened, recorder: undefined }),
        close: () => counting.close(),
      };
  const filter = new ManagedFilter(defineFilter({ ...options, name: 'products' }), {
    store,
    emit,
    clock: systemClock,
  });
  context.cleanUp(async () => {
    await filter.close();
    await store.close();
  });
  return filter;
}

/** A filter of the first `ids` present ids, built by a rebuild. */
export async function builtFilter(
  url: string,
  options: { ids: number; errorRate: number; replica?: BloomReplicaMode },
  context: BenchContext,
): Promise<ManagedFilter> {
  const { ids, errorRate, replica = 'off' } = options;
  const filter = await openFilter(
    url,
    { capacity: ids, errorRate, replica, source: sourceOf(ids), rebuild: { drainMs: 0 } },
    context,
  );
  await filter.rebuild();
  const sample = Array.from({ length: 1000 }, (_, i) => idText('prod', Math.floor((i * ids) / 1000)));
  assert(!(await filter.checkMany(sample)).includes('absent'), 'ours to find every id');
  const absent = await filter.checkMany(idTexts('none', 1000));
  assert(absent.filter((verdict) => verdict !== 'absent').length <= 20, 'ours to deny absent ids');
  return filter;
}

/** The first `count` present ids, made as they are read. */
export function sourceOf(count: number): BloomIdSource {
  return {
    async *ids() {
      for (let first = 0; first < count; first += IDS_PER_BATCH)
        yield idTexts('prod', Math.min(IDS_PER_BATCH, count - first), first);
    },
  };
}

/** Integers that exist, too far apart for a bit each. */
export const orderedId = (i: number) => 32 * (i + 1);

/** A filter of the first `count` of them, of which a copy is sure. */
export async function coveredFilter(
  url: string,
  count: number,
  context: Pick<BenchContext, 'cleanUp'>,
): Promise<ManagedFilter> {
  const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => orderedId(from + i));
  const source: BloomIdSource = {
    async *ids() {
      for (let at = 0; at < count; at += IDS_PER_BATCH) yield rows(at, Math.min(at + IDS_PER_BATCH, count));
    },
    idsSince: async function* (mark = 0) {
      yield rows(Math.floor(Number(mark) / orderedId(0)), count);
    },
    newest: async (others = 0) => orderedId(count - 1 - others),
    idOrder: 'integer',
  };
  const rebuild = { drainMs: 0 };
  const filter = await openFilter(url, { capacity: count, source, replica: 'covered', rebuild }, context);
  await filter.freshness!.start();
  if ((await filter.info()).state !== 'ready') await filter.rebuild();
  const between = orderedId(count / 4) + 1;
  for (let attempt = 0; attempt < 600; attempt++) {
    const { local } = filter.metrics().lookups;
    if ((await filter.check(between)) === 'absent' && filter.metrics().lookups.local > local) return filter;
    await delay(50);
  }
  throw new Error('Expected the copy to be sure within thirty seconds.');
}

/** Values under the keys `value:0` and so on, for raw `GET`s. */
export async function writeValues(client: Redis, count: number): Promise<void> {
  for (let first = 0; first < count; first += 1000) {
    const pairs = Array.from({ length: Math.min(1000, count - first) }, (_, i) => [
      `value:${first + i}`,
      '1',
    ]);
    await client.mset(pairs.flat());
  }
}

/** `items` handled `width` at a time by `work`; each group is over before the next begins. */
export async function inGroups<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < items.length; at += width) await Promise.all(items.slice(at, at + width).map(work));
}

/** Waits until a lookup of an id that exists sends nothing: the local replica is whole. */
export async function untilReplicaAnswers(client: Redis, lookUp: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    await client.config('RESETSTAT');
    await lookUp();
    if ((await commandsSent(client)) === 0) return;
    await delay(100);
  }
  assert(false, 'the replica to be loaded within ten seconds');
}

/** Waits until the process answers "absent" from its copy. */
export async function untilLeased(filter: Pick<BloomFilter, 'check' | 'info'>): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    await filter.check('none');
    if ((await filter.info()).copyLease?.isLeased) return;
    await delay(50);
  }
  assert(false, 'the copy to be leased within thirty seconds');
}

/** Commands of lookups since `CONFIG RESETSTAT`. */
export async function commandsSent(client: Redis): Promise<number> {
  const calls = await Promise.all(
    ['getrange', 'evalsha', 'eval'].map(async (command) => (await serverTime(client, command)).calls),
  );
  return calls.reduce((sum, one) => sum + one, 0);
}

/**
 * Counts what all clients send from now on until its end, except administration. `MONITOR` alone shows which
 * commands a script has run: they are part of it, and are not counted, while the counters of `INFO` have
 * them. It costs the server a write for each command, so that it is for few of them. The lines are read
 * without ioredis: its `monitor()` fails when the first of them arrives together with the reply to `MONITOR`.
 */
export async function countCommands(url: string): Promise<{ end(): number }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = createInterface({ input: socket });
  let sent = 0;
  lines.on('line', (line) => {
    if (/^\+[\d.]+ \[\d+ (?!lua\])/.test(line)) sent++;
  });
  socket.write('MONITOR\r\n');
  const [reply] = await once(lines, 'line');
  assert(reply === '+OK', 'MONITOR to be answered with OK');
  return {
    end() {
      lines.close();
      socket.destroy();
      return sent;
    },
  };
}

/** Microseconds that the server spent in a command since `CONFIG RESETSTAT`, and its calls. */
export async function serverTime(client: Redis, command: string): Promise<{ calls: number; micros: number }> {
  const stats = await client.info('commandstats');
  const [, calls = 0, micros = 0] =
    new RegExp(`cmdstat_${command}:calls=(\\d+),usec=(\\d+)`).exec(stats)?.map(Number) ?? [];
  return { calls, micros };
}
