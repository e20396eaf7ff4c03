import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { requireMariaDb } from '../../test/support/mariadb-server.js';
import { charactersByScript } from './characters.js';
import type { Compared } from './compared.js';
import { type Atom, differencesOf, type KeyOf } from './differences.js';

/**
 * Compares each of these collations that the server has; without names the collations that most applications
 * use.
 */
export async function* compareMariaDb(keyOf: KeyOf, names: readonly string[]): AsyncGenerator<Compared> {
  const server = await requireMariaDb();
  try {
    const connection = await createConnection({ uri: server.url, charset: 'utf8mb4' });
    await writeScripts(connection);
    for (const collation of await known(connection, names.length > 0 ? names : USUAL)) {
      const atoms = await charactersOf(connection, collation);
      if (collation.startsWith('utf8mb4') && !isWhole(collation))
        atoms.push(...(await contractionsOf(connection, collation)));
      const differences = differencesOf(atoms, keyOf);
      yield { server: `MariaDB ${server.version}`, collation, texts: atoms.length, differences };
    }
    await connection.end();
  } finally {
    await server.stop();
  }
}

const USUAL = `
  utf8mb4_general_ci utf8mb4_general_nopad_ci utf8mb4_unicode_ci utf8mb4_unicode_nopad_ci utf8mb4_unicode_520_ci
  utf8mb4_unicode_520_nopad_ci utf8mb4_uca1400_ai_ci utf8mb4_uca1400_as_ci utf8mb3_general_ci utf8mb3_unicode_ci latin1_swedish_ci
`
  .trim()
  .split(/\s+/);

async function known(connection: Connection, wanted: readonly string[]): Promise<string[]> {
  const rows = await read<[string]>(
    connection,
    'select full_collation_name from information_schema.collation_character_set_applicability',
  );
  const names = new Set(rows.map(([name]) => name));
  const found = wanted.filter((name) => names.has(name));
  if (found.length > 0) return found;
  throw new Error(
    `Expected a collation that MariaDB has, got ${wanted.join(', ')}. "show collation" lists them.`,
  );
}

async function charactersOf(connection: Connection, collation: string): Promise<Atom[]> {
  const charset = collation.split('_')[0]!;
  const last = { utf8mb4: 0x10ffff, utf8mb3: 0xffff }[charset] ?? 0xff;
  const character = isUnicode(collation)
    ? `convert(char(seq using utf32) using ${charset})`
    : `char(seq using ${charset})`;
  const rows = await read<[string, string]>(
    connection,
    `select hex(convert(${character} using utf8mb4)), hex(${weights(character, collation)})
     from seq_1_to_${last} where seq not between 0xd800 and 0xdfff`,
  );
  return rows.map(([text, hex]) => atom(text, hex, collation));
}

async function writeScripts(connection: Connection): Promise<void> {
  await connection.query(
    'create temporary table letters (letter char(1) character set utf8mb4, script varchar(30), key (script))',
  );
  for (const [script, letters] of charactersByScript())
    await connection.query('insert into letters values ?', [letters.map((letter) => [letter, script])]);
}

/** Pairs of letters of one script that are compared otherwise than one after the other. */
async function contractionsOf(connection: Connection, collation: string): Promise<Atom[]> {
  const [one, other, both] = ['a.letter', 'b.letter', 'concat(a.letter, b.letter)'].map((text) =>
    weights(text, collation),
  );
  // A temporary table stands in a query only once.
  await connection.query('create or replace temporary table others as select * from letters');
  const rows = await read<[string, string]>(
    connection,
    `select hex(concat(a.letter, b.letter)), hex(${both}) from letters a join others b on a.script = b.script
     where ${both} <> concat(${one}, ${other})`,
  );
  return rows.map(([text, hex]) => atom(text, hex, collation));
}

function weights(text: string, collation: string): string {
  return `weight_string(${text} collate ${collation})`;
}

/**
 * A weight has two bytes, or one in a character set of one byte. A character that a collation does not list
 * has two that belong together.
 */
function atom(text: string, hex: string, collation: string): Atom {
  const each = isUnicode(collation) ? /FB[0-9A-E][0-9A-F].{4}|.{4}/g : /../g;
  const all = isWhole(collation) ? [hex].filter(Boolean) : (hex.match(each) ?? []);
  return { text: Buffer.from(text, 'hex').toString(), weights: all };
}

function isUnicode(collation: string): boolean {
  return collation.startsWith('utf8');
}

/**
 * Whether accents count: then weights of several kinds follow one another, and only whole ones are compared.
 */
function isWhole(collation: string): boolean {
  return collation.includes('_as_');
}

async function read<Row>(connection: Connection, sql: string): Promise<Row[]> {
  const [rows] = await connection.query<RowDataPacket[]>({ sql, rowsAsArray: true });
  return rows as unknown as Row[];
}
