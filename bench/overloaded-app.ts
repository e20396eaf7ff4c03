import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import {
  BloomGuarded,
  type BloomIdSource,
  BloomModule,
  BloomOverloadError,
  type BloomReplicaMode,
  BloomService,
} from '../src/index.js';
import { idText, idTexts } from './ids.js';
import { sourceOf } from './redis-bench.js';

// An instance of a shop on a Postgres server. Each message is a word, or a load of so many lookups a second.
const [redis, postgres, products, number] = [
  process.argv[2]!,
  process.argv[3]!,
  Number(process.argv[4]),
  Number(process.argv[5]),
];
const { replica = 'verified', onUnknown, isOrdered } = JSON.parse(process.argv[6]!) as Shop;

export interface Shop {
  readonly replica?: BloomReplicaMode;
  readonly onUnknown?: 'pass';
  /** Whether ids are in order: what comes after the last one is unknown. */
  readonly isOrdered?: boolean;
}

export interface Load {
  readonly real: number;
  readonly absent: number;
  /** Whether the absent ids come after the last row. */
  readonly isBeyond?: boolean;
  readonly seconds: number;
}

/** What became of lookups of ids that exist, and how many queries absent ids have cost. */
export interface OverloadSeen {
  readonly asked: number;
  readonly refused: number;
  readonly wrong: number;
  /** Milliseconds until the row, of those that were answered within three seconds. */
  readonly times: readonly number[];
  readonly absentQueries: number;
}

/** With two other instances: ten connections. */
const CONNECTIONS = number === 0 ? 4 : 3;
/** A query of some weight, with a row or without; the row is found in a tenth of a millisecond. */
const QUERY = 'select (select id from overloaded_products where id = $1) as id, pg_sleep(0.02)';
const TICK_MS = 5;
const PATIENCE_MS = 3000;

const pool = new pg.Pool({ connectionString: postgres, max: CONNECTIONS });
let absentQueries = 0;

@Injectable()
class Products {
  @BloomGuarded('products')
  async find(id: string): Promise<object | null> {
    const { rows } = await pool.query(QUERY, [id]);
    if (rows[0].id !== null) return rows[0];
    absentQueries++;
    return null;
  }
}

function orderedSource(): BloomIdSource {
  const ids = idTexts('prod', products);
  return {
    ...sourceOf(products),
    idOrder: 'text',
    async *idsSince(mark) {
      yield mark === undefined ? ids : ids.filter((id) => id > String(mark));
    },
    newest: async (others = 0) => ids.at(-1 - others),
  };
}

const filter = {
  name: 'products',
  capacity: products,
  errorRate: 0.001,
  replica,
  audit: false,
  source: isOrdered ? orderedSource() : sourceOf(products),
  rebuild: { onBoot: 'never', drainMs: 5000 },
} as const;
const guard = onUnknown ? { onUnknown } : {};

@Module({ imports: [BloomModule.forRoot({ redis, guard, filters: [filter] })], providers: [Products] })
class App {}

Logger.overrideLogger(false);
const app = await NestFactory.createApplicationContext(App, { logger: false });
const bloom = app.get(BloomService);
const shop = app.get(Products);
let next = number * 1e9;

async function run({ real, absent, isBeyond, seconds }: Load): Promise<OverloadSeen> {
  const queriesBefore = absentQueries;
  const seen = { asked: 0, refused: 0, wrong: 0, times: [] as number[] };
  const startedAt = performance.now();
  let nobodies = 0;
  const findReal = async () => {
    const askedAt = performance.now();
    try {
      const row = await shop.find(idText('prod', Math.floor(Math.random() * products)));
      if (!row) seen.wrong++;
      const ms = performance.now() - askedAt;
      if (ms <= PATIENCE_MS) seen.times.push(ms);
    } catch (error) {
      if (error instanceof BloomOverloadError) seen.refused++;
    }
  };
  // Lookups come whether those before have ended or not, as from clients who know nothing of each other.
  for (let ms = 0; ms < 1000 * seconds; ms = performance.now() - startedAt) {
    for (; seen.asked < (real * ms) / 1000; seen.asked++) void findReal();
    for (; nobodies < (absent * ms) / 1000; nobodies++)
      shop.find(isBeyond ? idText('prod', products + next++) : idText('none', next++)).catch(() => {});
    await delay(TICK_MS);
  }
  await delay(PATIENCE_MS);
  return { ...seen, absentQueries: absentQueries - queriesBefore };
}

const words: Readonly<Record<string, () => Promise<unknown>>> = {
  build: () => bloom.filter('products').rebuild(),
  // With a copy: it answers.
  ready: async () => {
    for (let i = 0; replica !== 'off' && bloom.metrics()[0]!.lookups.local === 0; i++) {
      await bloom.filter('products').check(idText('prod', i));
      await delay(20);
    }
    return {};
  },
  judges: async () => {
    while ((await bloom.filter('products').check(idText('none', next++))) === 'unknown') await delay(50);
    return {};
  },
};

process.on('message', (message: string) => {
  const work = words[message]?.() ?? run(JSON.parse(message) as Load);
  void work.then((answer) => process.send!(answer ?? {}));
});
process.on('disconnect', () => process.exit());
process.send!({});
