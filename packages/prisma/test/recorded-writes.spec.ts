import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import { type BloomEvent, type BloomFilter, BloomGuardRunner, BloomModule, BloomService } from 'nestjs-bloom';
import { extendWithBloom, fromPrisma } from '../src/index.js';
import { startContext } from '../../../test/support/nest-app.js';
import { type PostgresServer, requirePostgres } from '../../../test/support/postgres-server.js';
import { generatedClient } from './generated-client.js';
import { type FilterName, FIELDS, LIBRARY, type LibraryClient, ROWS } from './library.js';
import { WRITES } from './library-writes.js';

let server: PostgresServer;
let plain: LibraryClient;

beforeAll(async () => {
  server = await requirePostgres();
  await server.run(LIBRARY);
  const Client = await generatedClient();
  plain = new Client({ adapter: new PrismaPg({ connectionString: server.url }) }) as LibraryClient;
});
afterAll(async () => {
  await plain?.$disconnect();
  await server?.stop();
});

let context: INestApplicationContext;
let filter: BloomFilter;
let client: LibraryClient;
const events: BloomEvent[] = [];

function placeOf(name: FilterName) {
  const [model, field] = name.split('.') as ['Author' | 'Book' | 'Note', string];
  const property = model.toLowerCase() as Lowercase<typeof model>;
  return { model: (made: LibraryClient) => made[property], field };
}

interface Write {
  readonly operation: string;
  readonly args: object;
  readonly query: (args: object) => Promise<unknown>;
}

/** The operations that were tried, and all names in their arguments. */
const tried = new Set<string>();
const spy = {
  query: {
    $allModels: {
      $allOperations({ operation, args, query }: Write) {
        JSON.stringify(args, (name, value: unknown) => (tried.add(name), value));
        tried.add(operation);
        return query(args);
      },
    },
  },
};

/** A filter that is filled by a client. */
async function start(name: FilterName) {
  const { model, field } = placeOf(name);
  context = await startContext({
    imports: [
      BloomModule.forRoot({
        onEvent: (event) => void events.push(event),
        filters: [
          {
            name,
            capacity: 100,
            coverage: 'none',
            errorRate: 1e-6,
            source: fromPrisma(plain, model, field),
            rebuild: { drainMs: 0, onBoot: 'never' },
          },
        ],
      }),
    ],
  });
  filter = context.get(BloomService).filter(name);
  const runner = context.get(BloomGuardRunner, { strict: false });
  client = extendWithBloom(plain.$extends(spy) as LibraryClient, runner, model, field, { filter: name });
}

/** The rows are as they were in the beginning, and the filter has these. */
async function begin() {
  await server.run(ROWS);
  await filter.rebuild({ force: true });
  events.length = 0;
}

const tables = () =>
  Promise.all([
    plain.author.findMany({ orderBy: { id: 'asc' } }),
    plain.book.findMany({ orderBy: { isbn: 'asc' } }),
    plain.profile.findMany({ orderBy: { slug: 'asc' } }),
    plain.note.findMany({ orderBy: { id: 'asc' } }),
  ]) as Promise<object[][]>;

/** What the filter says of the ids of all rows that are there. */
async function answers(name: FilterName): Promise<[unknown, string][]> {
  const { model, field } = placeOf(name);
  const rows = (await model(plain).findMany()) as Record<string, string | number | null>[];
  const ids = rows.map((row) => row[field]).filter((id) => id !== null) as (string | number)[];
  return Promise.all(ids.map(async (id): Promise<[unknown, string]> => [id, await filter.check(id)]));
}

/** All names of nested writes. */
const NESTED =
  'create createMany connect connectOrCreate set update updateMany upsert disconnect delete deleteMany'.split(
    ' ',
  );

describe.each(FIELDS)('A filter over %s', (name) => {
  beforeAll(() => start(name));
  afterAll(() => context.close());

  it.each(WRITES.map(([write, run, ...refusedFor]) => [write, { run, refusedFor }] as const))(
    'denies no row after: %s',
    async (_, { run, refusedFor }) => {
      await begin();
      const before = await tables();
      expect(await filter.check('0')).toBe('absent');
      const result = await run(client).then(
        () => 'written',
        (error: Error) => error.message,
      );
      if (refusedFor.includes(name)) {
        expect(result).toMatch(/^extendWithBloom cannot record the id of a row in filter .*\. Instead /s);
        expect(await tables()).toEqual(before);
      } else {
        expect(result).toBe('written');
        expect(await tables()).not.toEqual(before);
      }
      const all = await answers(name);
      expect(all).toEqual(all.map(([id]) => [id, 'maybe']));
      expect(events.filter(({ type }) => type === 'advice' || type === 'store-error')).toEqual([]);
    },
  );

  it('does not see raw SQL', async () => {
    await begin();
    await client.$executeRawUnsafe(`with a as (insert into authors (slug) values ('raw')),
      p as (insert into profiles values ('second')), n as (insert into notes (profile) values ('second'))
      insert into books (isbn, author, sequel_of) values ('raw', 'second', 'b3')`);
    expect((await answers(name)).filter(([, answer]) => answer === 'absent')).toHaveLength(1);
  });
});

it('A client of Prisma has no other writes, nested ones included, than those that were tried', () => {
  const reads = /^(find|count|aggregate|groupBy|fields|name|\$)/;
  const operations = Object.keys(plain.book).filter((name) => !reads.test(name));
  expect(operations).toContain('create');
  expect([...tried]).toEqual(expect.arrayContaining([...operations, ...NESTED]));
});
