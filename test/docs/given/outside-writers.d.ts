// What docs/outside-writers.md leaves out.
declare const BloomModule: typeof import('nestjs-bloom').BloomModule;
declare const Injectable: typeof import('@nestjs/common').Injectable;
type BloomIdSource = import('nestjs-bloom').BloomIdSource;
type BloomMark = import('nestjs-bloom').BloomMark;
declare const fromKnex: typeof import('@nestjs-bloom/knex').fromKnex;
declare const fromTypeOrm: typeof import('@nestjs-bloom/typeorm').fromTypeOrm;
declare class Order {
  readonly id: number;
}
declare const KNEX: unique symbol;

declare class Database {
  column(sql: string): AsyncIterable<string>;
  rows(sql: string, values: readonly unknown[]): Promise<{ id: number; sku: string }[]>;
  value(sql: string, values: readonly unknown[]): Promise<number | undefined>;
}

declare const postgresFeed: typeof import('@nestjs-bloom/postgres/feed').postgresFeed;
type BloomFeed = import('nestjs-bloom').BloomFeed;

type BloomFeedContext = import('nestjs-bloom').BloomFeedContext;
type Collection = import('mongodb').Collection;
