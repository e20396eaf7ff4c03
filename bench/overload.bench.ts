import { Redis } from 'ioredis';
import pg from 'pg';
import { startRedis } from '../test/support/redis-server.js';
import { assert, type Bench, type BenchContext } from './harness.js';
import { idTexts } from './ids.js';
import { OtherProcess } from './other-process.js';
import type { Load, OverloadSeen, Shop } from './overloaded-app.js';
import { startPostgres } from './postgres-server.js';

const INSTANCES = 3;
const PRODUCTS = 20_000;
/** As in `overloaded-app.ts`. */
const PATIENCE_MS = 3000;
/** The connections bear 500 queries a second. Lookups a second, of all instances together. */
const REAL = 90;
const ABSENT = 1500;

/** Three instances on one Postgres server, with ten connections, while their filter cannot judge. */
export const bench: Bench = async (context) => {
  const { pick } = context;
  const postgres = process.env.BLOOM_BENCH_POSTGRES_URL ?? (await startPostgres(context));
  if (!postgres)
    return context.skip(
      'all of it',
      'initdb and postgres are neither in /usr/lib/postgresql nor on the PATH',
    );
  await fill(postgres);
  const seconds = pick(15, 2);
  const calm = { real: REAL, absent: 0, seconds };
  const attack = { real: REAL, absent: ABSENT, seconds };

  const { redis, instances } = await startShop(postgres, {}, context);
  const usual = await load(instances, calm);
  summary(context, 'no attack', usual);
  assert(usual.refused === 0, 'no lookup to be refused without an attack');
  summary(context, 'attack, the filter judges', await load(instances, attack));

  const stopped = await redis.stoppedWhile(() => load(instances, attack));
  judge(context, 'attack, Redis stopped', stopped, usual);
  await all(instances, 'judges');
  await redis.flush();
  const lost = await load(instances, { ...attack, seconds: 4 });
  judge(context, 'attack, Redis flushed', lost, usual);

  const ordered = await startShop(postgres, { isOrdered: true }, context);
  await load(ordered.instances, calm);
  judge(
    context,
    'attack with ids beyond the mark',
    await load(ordered.instances, { ...attack, isBeyond: true }),
    usual,
  );

  const bare = await startShop(postgres, { replica: 'off' }, context);
  await load(bare.instances, calm);
  const twice = await bare.redis.stoppedWhile(() => load(bare.instances, { ...calm, real: 2 * REAL }));
  judgeCalm(context, 'no attack, no copy, Redis stopped, twice the load', twice);

  const first = await startShop(postgres, {}, context, { isBuilt: false });
  judgeCalm(context, 'no attack, never built', await load(first.instances, calm));
  summary(context, 'attack, never built', await load(first.instances, attack));

  const open = await startShop(postgres, { onUnknown: 'pass' }, context);
  await load(open.instances, calm);
  summary(
    context,
    'attack, Redis stopped, without a budget',
    await open.redis.stoppedWhile(() => load(open.instances, attack)),
  );
};

async function fill(postgres: string): Promise<void> {
  const client = new pg.Client(postgres);
  await client.connect();
  await client.query('drop table if exists overloaded_products');
  await client.query('create table overloaded_products (id text primary key)');
  await client.query('insert into overloaded_products select unnest($1::text[])', [
    idTexts('prod', PRODUCTS),
  ]);
  await client.end();
}

async function startShop(postgres: string, shop: Shop, context: BenchContext, { isBuilt = true } = {}) {
  const server = await startRedis();
  context.cleanUp(() => server.stop());
  const instances = Array.from({ length: INSTANCES }, (_, i) =>
    OtherProcess.start(
      'overloaded-app.ts',
      [server.url, postgres, String(PRODUCTS), String(i), JSON.stringify(shop)],
      context,
      { hasSession: true },
    ),
  );
  await Promise.all(instances.map((instance) => instance.answer()));
  if (isBuilt) {
    const { outcome } = await instances[0]!.ask<{ outcome: string }>('build');
    assert(outcome === 'published', 'the filter to be built');
    await all(instances, 'ready');
  }
  const redis = {
    async stoppedWhile<Result>(work: () => Promise<Result>): Promise<Result> {
      process.kill(server.pid, 'SIGSTOP');
      try {
        return await work();
      } finally {
        process.kill(server.pid, 'SIGCONT');
      }
    },
    async flush(): Promise<void> {
      const client = new Redis(server.url);
      await client.flushall();
      client.disconnect();
    },
  };
  return { redis, instances };
}

function all<Answer>(instances: readonly OtherProcess[], message: string): Promise<Answer[]> {
  return Promise.all(instances.map((instance) => instance.ask<Answer>(message)));
}

interface Seen {
  readonly asked: number;
  readonly refused: number;
  readonly served: number;
  readonly p99: number;
  readonly absentQueries: number;
}

async function load(instances: readonly OtherProcess[], { real, absent, ...others }: Load): Promise<Seen> {
  const share = { real: real / INSTANCES, absent: absent / INSTANCES, ...others };
  const seen = await all<OverloadSeen>(instances, JSON.stringify(share));
  const sum = (figure: 'asked' | 'refused' | 'wrong' | 'absentQueries') =>
    seen.reduce((total, one) => total + one[figure], 0);
  assert(sum('wrong') === 0, 'no id that exists to be answered as absent');
  const times = seen.flatMap((one) => one.times).sort((a, b) => a - b);
  return {
    asked: sum('asked'),
    refused: sum('refused'),
    served: times.length / sum('asked'),
    p99: times[Math.floor(0.99 * times.length)] ?? PATIENCE_MS,
    absentQueries: sum('absentQueries') / others.seconds,
  };
}

function summary(
  { report }: BenchContext,
  name: string,
  { served, refused, p99, absentQueries }: Seen,
): void {
  report.figure(name, 'served, %', 100 * served);
  report.figure(name, 'refused', refused);
  report.figure(name, '99th percentile, ms', p99);
  report.figure(name, 'queries/s of absent ids', absentQueries);
}

function judgeCalm(context: BenchContext, name: string, seen: Seen): void {
  summary(context, name, seen);
  context.report.goal({
    contender: name,
    metric: 'refused',
    value: seen.refused,
    ratio: seen.refused / seen.asked,
    atMost: 0,
    of: 'of the lookups',
  });
}

function judge(context: BenchContext, name: string, seen: Seen, usual: Seen): void {
  const { report } = context;
  summary(context, name, seen);
  report.goal({
    contender: name,
    metric: 'served',
    value: seen.served,
    ratio: seen.served,
    atLeast: 0.99,
    of: 'of the ids that exist',
  });
  report.goal({
    contender: name,
    metric: '99th percentile, ms',
    value: seen.p99,
    ratio: seen.p99 / usual.p99,
    atMost: 3,
    of: '× without attack',
  });
}
