import pg, { type Client, type ClientConfig } from 'pg';
import { BloomConfigError, type BloomFeed, type BloomFeedContext } from 'nestjs-bloom';
import { systemClock } from 'nestjs-bloom/sources';
import { readySlot } from './feed-slot.js';
import { expectLogicalLog, quotedTable, readTable } from './feed-table.js';
import type { PostgresFeedOptions } from './postgres-feed-options.js';
import { wrongFeedOption } from './postgres-feed.messages.js';
import { Replication, type ReplicationOptions } from './replication.js';
import { TableWatch } from './table-watch.js';

const CONNECT_WITHIN_MS = 10_000;
/** Longest time that an end waits for Postgres. */
const END_WITHIN_MS = 2000;
const NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * Adds the ids of all rows that anybody commits to a table of Postgres 14 or later, by logical replication
 * (`pgoutput`). It resumes from its slot: Postgres keeps the log until its ids have been added.
 *
 * @example
 * BloomModule.forFeature([
 *   {
 *     name: 'products',
 *     capacity: 1_000_000,
 *     source: fromKnex(KNEX, 'products', 'sku'),
 *     feed: postgresFeed({ connection: url, table: 'products', column: 'sku', publication: 'bloom', slot:
 *     'bloom_products', create: true }),
 *   },
 * ]);
 *
 * @throws {BloomConfigError} for an option that cannot work.
 */
export function postgresFeed(options: PostgresFeedOptions): BloomFeed {
  checkOptions(options);
  return { follow: (context) => follow(options, context) };
}

async function follow(options: PostgresFeedOptions, context: BloomFeedContext): Promise<void> {
  const { signal, position } = context;
  const config = configOf(options);
  const client = new pg.Client(config);
  const lost = new Promise<never>((_, reject) => client.on('error', reject));
  // It may reject while nobody waits for it.
  lost.catch(() => {});
  // A question that Postgres does not answer, such as for a slot while a transaction is open, must not hold
  // up a process that ends.
  const stop = () => void client.end().catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  try {
    await client.connect();
    await expectLogicalLog(client);
    const read = () => readTable(client, options);
    const table = await read();
    const { confirmed, server, gap } = await readySlot(client, options, { position, print: table.print });
    if (signal.aborted) return;
    if (gap !== undefined) context.missed(gap);
    const watched = { client, table: quotedTable(options.table), read, onGap: context.missed };
    const watch = new TableWatch(watched, table);
    await replicate({ ...options, config, client, confirmed, server, watch }, context, lost);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await endOf(client);
  }
}

async function endOf(client: Client): Promise<void> {
  const late = new AbortController();
  await Promise.race([
    client.end().catch(() => {}),
    systemClock.sleep(END_WITHIN_MS, late.signal).catch(() => {}),
  ]);
  late.abort();
}

async function replicate(
  options: ReplicationOptions,
  context: BloomFeedContext,
  lost: Promise<never>,
): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([context.signal, ending.signal]);
  const running = new Replication(options, { ...context, signal }).run();
  try {
    await Promise.race([running, lost]);
  } finally {
    ending.abort();
    await running.catch(() => {});
  }
}

function configOf({ connection }: PostgresFeedOptions): ClientConfig {
  const given = typeof connection === 'string' ? { connectionString: connection } : connection;
  return { connectionTimeoutMillis: CONNECT_WITHIN_MS, keepAlive: true, ...given };
}

function checkOptions(options: PostgresFeedOptions): void {
  const expect = (
    option: keyof PostgresFeedOptions,
    expected: string,
    holds: (value: unknown) => boolean,
  ) => {
    const value: unknown = options?.[option];
    if (!holds(value)) throw new BloomConfigError(wrongFeedOption(option, expected, value));
  };
  const isText = (value: unknown) => typeof value === 'string' && value !== '';
  const isName = (value: unknown) => typeof value === 'string' && NAME.test(value);
  expect(
    'connection',
    'a URL, or options of a client of pg',
    (value) => isText(value) || (typeof value === 'object' && value !== null),
  );
  expect('table', 'the name of a table, or a schema and a table with a dot between them', isText);
  expect('column', 'the name of a column', isText);
  expect('publication', 'a name of small letters, digits and _', isName);
  expect('slot', 'a name of small letters, digits and _', isName);
  expect('create', 'true or false', (value) => value === undefined || typeof value === 'boolean');
}
