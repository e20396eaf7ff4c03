import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  type BloomEvent,
  type BloomFilter,
  type BloomIdSource,
  BloomModule,
  type BloomReplicaMode,
  BloomService,
} from 'nestjs-bloom';
import pg from 'pg';
import { postgresFeed } from '@nestjs-bloom/postgres/feed';
import type { OutsideOptions } from './outside-protocol.js';
import { PATIENT_TIMEOUT_MS } from './timings.js';

/** Longer than any transaction of the writers, also on a machine that has other things to do. */
export const OVERLAP_MS = 2000;
export const ORDERS = 'orders';
export const GOODS = 'goods';
export const SLOT = 'bloom_goods';
const EVENTS_KEPT = 50;

/**
 * An application that writes nothing: `orders` has ids in order, and coverage; `goods` has ids in no order,
 * and a feed.
 */
export class OutsideShop {
  readonly events: BloomEvent[] = [];

  private constructor(
    private readonly app: INestApplicationContext,
    private readonly pool: pg.Pool,
  ) {}

  /** @param replica of orders. */
  static async start(
    { redis, databaseUrl, feedUrl }: OutsideOptions,
    replica?: BloomReplicaMode,
  ): Promise<OutsideShop> {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 4, connectionTimeoutMillis: 5000 });
    pool.on('error', () => {});
    let note: (event: BloomEvent) => void = () => {};
    const rebuild = { drainMs: OVERLAP_MS / 4, minRatio: 0 };
    const app = await Test.createTestingModule({
      imports: [
        BloomModule.forRoot({
          redis,
          timeoutMs: PATIENT_TIMEOUT_MS,
          writeTimeoutMs: PATIENT_TIMEOUT_MS,
          owner: 'outside',
          logger: false,
          onEvent: (event) => note(event),
          filters: [
            {
              name: ORDERS,
              capacity: 20_000,
              source: orders(pool),
              rebuild,
              topUp: { everyMs: 50, overlapMs: OVERLAP_MS },
              replica,
            },
            {
              name: GOODS,
              capacity: 20_000,
              source: goods(pool),
              rebuild,
              feed: postgresFeed({
                connection: feedUrl,
                table: GOODS,
                column: 'sku',
                publication: 'bloom',
                slot: SLOT,
                create: true,
              }),
            },
          ],
        }),
      ],
    }).compile();
    app.useLogger(false);
    const shop = new OutsideShop(app, pool);
    note = (event) => {
      if (event.type === 'rebuild-progress') return;
      shop.events.push(event);
      if (shop.events.length > EVENTS_KEPT) shop.events.shift();
    };
    await app.init();
    return shop;
  }

  filter(name: string): BloomFilter {
    return this.app.get(BloomService, { strict: false }).filter(name);
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.pool.end();
  }
}

function orders(pool: pg.Pool): BloomIdSource {
  const read = async (sql: string, values: unknown[] = []) =>
    (await pool.query<{ id: string }>(sql, values)).rows.map(({ id }) => Number(id));
  return {
    ids: async function* () {
      yield await read('select id from orders');
    },
    idsSince: async function* (mark) {
      yield await read('select id from orders where id > $1 order by id', [mark ?? 0]);
    },
    idOrder: 'integer',
    newest: async (others = 0) =>
      (await read('select id from orders order by id desc limit 1 offset $1', [others]))[0],
  };
}

function goods(pool: pg.Pool): BloomIdSource {
  return {
    ids: async function* () {
      yield (await pool.query<{ sku: string }>('select sku from goods')).rows.map(({ sku }) => sku);
    },
  };
}
