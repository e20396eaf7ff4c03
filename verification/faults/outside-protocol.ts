import type { BloomRedis } from '../../src/store/redis/index.js';

/** Where an application finds the rows that others write, and what it reports of them. */
export interface OutsideOptions {
  readonly redis: BloomRedis;
  readonly databaseUrl: string;
  /** For the feed: it may lead through a proxy. */
  readonly feedUrl: string;
}
