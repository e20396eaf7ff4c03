import pg from 'pg';
import { requirePostgres } from '../../test/support/postgres-server.js';
import { CHARACTERS, charactersByScript } from './characters.js';
import type { Compared } from './compared.js';
import { type Difference, type KeyOf, usualKey } from './differences.js';

/** Locales of ICU. `level1`: case and accents are ignored; `level2`: case is. */
const LOCALES = ['und-u-ks-level1', 'und-u-ks-level2'];
/** By which `citext` makes small letters: it takes those of its database. */
const LOWER = ['und-x-icu', 'tr-x-icu', 'lt-x-icu', 'az-x-icu', 'el-x-icu', 'C'];

/**
 * Compares `citext` and collations of ICU. Postgres shows no weights, so texts are grouped by what it takes
 * for equal.
 */
export async function* comparePostgres(keyOf: KeyOf): AsyncGenerator<Compared> {
  const postgres = await requirePostgres();
  const client = new pg.Client({ connectionString: postgres.url });
  try {
    await client.connect();
    const texts = [...CHARACTERS, ...severalCharacters(keyOf)];
    await client.query('create extension citext; create table texts (text text)');
    await fill(client, texts);
    const version = await one(client, "select split_part(current_setting('server_version'), ' ', 1)");
    const icu = await one(client, `select collversion from pg_collation where collname = 'und-x-icu'`);
    const server = `Postgres ${version} (collations of ICU: ${icu})`;
    const compared = async (collation: string, equal: string): Promise<Compared> => ({
      server,
      collation,
      texts: texts.length,
      differences: await differ(client, equal, keyOf),
    });
    yield compared('citext', 'text::citext');
    for (const name of LOWER) yield compared(`lower of ${name}`, `lower(text collate "${name}")`);
    for (const locale of LOCALES) {
      await client.query(
        `create collation "${locale}" (provider = icu, locale = '${locale}', deterministic = false)`,
      );
      yield compared(locale, `text collate "${locale}"`);
    }
    yield { server, collation: `pairs, ${LOCALES[0]}`, ...(await comparePairs(client, keyOf)) };
  } finally {
    await client.end();
    await postgres.stop();
  }
}

/** All pairs of letters of one script: some are compared otherwise than one after the other. */
async function comparePairs(
  client: pg.Client,
  keyOf: KeyOf,
): Promise<Pick<Compared, 'texts' | 'differences'>> {
  const differences: Difference[] = [];
  let texts = 0;
  for (const [, characters] of charactersByScript()) {
    const letters = characters.filter((character) => !/\p{sc=Inherited}/u.test(character));
    const pairs = letters.flatMap((first) => letters.map((second) => first + second));
    await fill(client, [...letters, ...pairs]);
    differences.push(...(await differ(client, `text collate "${LOCALES[0]}"`, keyOf)));
    texts += pairs.length;
  }
  return { texts, differences };
}

async function fill(client: pg.Client, texts: readonly string[]): Promise<void> {
  await client.query('truncate texts');
  for (let i = 0; i < texts.length; i += 100_000)
    await client.query('insert into texts select unnest($1::text[])', [texts.slice(i, i + 100_000)]);
}

/** Texts of several characters that a single one may be equal to. */
function severalCharacters(keyOf: KeyOf): Set<string> {
  const texts = new Set<string>();
  for (const text of CHARACTERS) {
    for (const other of [text.normalize('NFKD'), text.toUpperCase(), text.toLowerCase(), keyOf(text)])
      if ([...other].length > 1) texts.add(other);
  }
  const ascii = CHARACTERS.slice(0x20, 0x7e);
  for (const first of ascii) for (const second of ascii) texts.add(first + second);
  return texts;
}

async function differ(client: pg.Client, equal: string, keyOf: KeyOf): Promise<Difference[]> {
  const { rows } = await client.query<{ texts: string[] }>(
    `select array_agg(text) as texts from texts group by ${equal} having count(*) > 1`,
  );
  return rows.flatMap(({ texts }) => {
    const group = texts.map((text) => ({ text, key: keyOf(text) }));
    const expected = usualKey(group, keyOf);
    return group.filter(({ key }) => key !== expected).map((one) => ({ ...one, expected }));
  });
}

async function one(client: pg.Client, sql: string): Promise<string> {
  const { rows } = await client.query<[string]>({ text: sql, rowMode: 'array' });
  return rows[0]![0];
}
