import pg from 'pg';
import { requirePostgres } from '../../test/support/postgres-server.js';
import { CHARACTERS } from './characters.js';
import type { Compared } from './compared.js';
import { type Difference, type KeyOf, usualKey } from './differences.js';

/** Locales of ICU. `level1`: case and accents are ignored; `level2`: case is. */
const LOCALES = ['und-u-ks-level1', 'und-u-ks-level2'];
/** By which `citext` makes small letters: it takes those of its database. */
const LOWER = ['und-x-icu', 'tr-x-icu', 'lt-x-icu', 'az-x-icu', 'el-x-icu', 'C'];

/** Compares `citext` and collations of ICU. Postgres shows no weights, so texts are grouped by what it takes for equal. */
export async function* comparePostgres(keyOf: KeyOf): AsyncGenerator<Compared> {
  const server = await requirePostgres();
  const client = new pg.Client({ connectionString: server.url });
  try {
    await client.connect();
    const texts = [...CHARACTERS, ...severalCharacters(keyOf)];
    await client.query('create extension citext; create table texts (text text)');
    for (let i = 0; i < texts.length; i += 100_000)
      await client.query('insert into texts select unnest($1::text[])', [texts.slice(i, i + 100_000)]);
    const version = await one(client, "select split_part(current_setting('server_version'), ' ', 1)");
    const icu = await one(client, `select collversion from pg_collation where collname = 'und-x-icu'`);
    const compared = async (collation: string, equal: string): Promise<Compared> => ({
      server: `Postgres ${version} (collations of ICU: ${icu})`,
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
  } finally {
    await client.end();
    await server.stop();
  }
}

/** Texts of several characters that a single one may be equal to, and pairs of letters. */
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
