import { BloomConfigError, describeError } from '../common/index.js';
import { type BloomIdOrder, type BloomNoIdOrder, hasForm, timeOf } from '../rebuild/index.js';
import { isInteger, isPadded, isText, isUuid } from './column-spelling.js';
import {
  type CatalogColumn,
  isSubscribed,
  manyNodes,
  otherMaker,
  readCatalog,
  type RunQuery,
} from './postgres-catalog.js';
import {
  CATALOG_NOT_READ,
  madeByOthers,
  notAKind,
  noOrderOfType,
  notGenerated,
  orderOnlyLooks,
  otherKind,
  wrongKind,
} from './sources.messages.js';
import { nameOf, numbered, type SqlColumn } from './sql-query.js';

/** How ids are made, where the type of a column does not tell. */
export type BloomIdKind = 'uuidv7' | 'ulid' | 'snowflake' | 'objectId' | 'sequence';

/** Options of a source of a table, for rows that others write. */
export interface BloomOrderOptions {
  /**
   * How the ids are made, if in ascending order and the database does not say so itself: it knows serials,
   * identities, `AUTO_INCREMENT`, `AUTOINCREMENT` and defaults of `uuidv7()`. The filter is covered then.
   */
  readonly ids?: BloomIdKind;
  /**
   * For ids in no order: the column, as the database names it, in whose order new rows come last, and which
   * has an index. An integer of a sequence; with Postgres also an ascending text or `uuid`, or a timestamp.
   * With it the source has `idsSince` and `newest`, for `topUp`.
   */
  readonly order?: string;
}

type Order = BloomIdOrder | BloomNoIdOrder;

interface Described extends BloomOrderOptions {
  readonly type: string | undefined;
}

const KINDS: readonly BloomIdKind[] = ['uuidv7', 'ulid', 'snowflake', 'objectId', 'sequence'];

/**
 * In which order the ids of a column are made.
 *
 * @throws {BloomConfigError} for the option `ids` of another type than the column, and for no kind of ids.
 */
export async function idOrderOf(at: SqlColumn, { type, ids, order }: Described): Promise<Order> {
  const name = nameOf(at);
  const texts = ids === 'uuidv7' || ids === 'ulid' || ids === 'objectId';
  if (ids !== undefined) {
    if (!KINDS.includes(ids)) throw new BloomConfigError(notAKind(at.maker, KINDS, ids));
    const fits = !at.convert && (type === undefined || (texts ? holdsTexts(at, type, ids) : isInteger(type)));
    if (!fits) throw new BloomConfigError(wrongKind(at.maker, ids, name, type));
  }
  if (order !== undefined && order !== at.column) return { reason: madeByOthers(name, order) };
  if (ids !== undefined) return texts ? 'text' : 'integer';
  if (at.convert) return { reason: `${name} has a type of the application` };
  if (type !== undefined && !isInteger(type) && !(at.isPostgres && isUuid(type)))
    return { reason: noOrderOfType(name, type) };
  if (at.isPostgres) return inPostgres(at, name);
  if (at.isMySql) return inMySql(at, name);
  if (at.isSqlite) return inSqlite(at, name);
  return { reason: notGenerated(name) };
}

/** As many as a mark passes over for being far ahead of the order. */
const LAST_ROWS = 100;
/** No clock is so far ahead. */
const AHEAD_MS = 86_400_000;

/**
 * Why the last rows say that ids are of another kind, such as UUIDs of version 4 from before; undefined where
 * they do not. Later ids come before such rows, and a mark would pass them.
 *
 * @param id the column as a query selects it.
 */
export async function otherKindOfLast(
  at: SqlColumn,
  id: string,
  kind: BloomIdKind = 'uuidv7',
): Promise<string | undefined> {
  const column = `t.${at.quote(at.column)}`;
  const rows = (await at.run({
    strings: [
      `select ${id} from ${at.table} t where ${column} is not null order by ${column} desc limit ${LAST_ROWS}`,
    ],
    values: [],
  })) as { id?: unknown }[];
  const last = rows.map((row) => String(row.id));
  const other = last.find((one) => !hasForm(kind as 'uuidv7', one));
  if (other !== undefined) return otherKind(nameOf(at), kind, other);
  const latest = Date.now() + AHEAD_MS;
  const ahead = last.filter((one) => timeOf(one)! > latest);
  // Ids of the form alone, such as random ones, are spread over all times.
  return 2 * ahead.length > last.length ? otherKind(nameOf(at), kind, ahead[0]!) : undefined;
}

/** Postgres ignores spaces at the end of `char(n)`. */
function holdsTexts({ isPostgres }: SqlColumn, type: string, ids: string): boolean {
  return isText(type) || (!isPostgres && isPadded(type)) || (ids === 'uuidv7' && isUuid(type));
}

async function inPostgres(at: SqlColumn, name: string): Promise<Order> {
  try {
    return await byCatalog(numbered(at.run), at, name);
  } catch (error) {
    // Others of the dialect have another catalog. One that does not answer at all fails the start.
    await at.run({ strings: ['select version()'], values: [] });
    return { reason: `${CATALOG_NOT_READ} (${describeError(error)})` };
  }
}

async function byCatalog(run: RunQuery, { table, column: wanted }: SqlColumn, name: string): Promise<Order> {
  const column = (await readCatalog(run, table)).find((one) => one.name === wanted);
  if (!column) return { reason: `${name} was not there at start` };
  const isTimed = isUuid(column.type) && /^(?:\w+\.)?uuid(?:_generate_)?v7\(\)$/.test(column.made ?? '');
  const reason = isTimed ? undefined : whyNoSequence(name, column);
  if (reason !== undefined) return { reason };
  const nodes = await manyNodes(run);
  if (nodes !== undefined) return { reason: orderOnlyLooks(name, `several servers (${nodes})`) };
  if (await isSubscribed(run, table))
    return { reason: orderOnlyLooks(name, 'another server, by a subscription that may be late') };
  const part = await otherMaker(run, table, column);
  if (part !== undefined) return { reason: orderOnlyLooks(name, `several defaults (that of ${part} too)`) };
  return isTimed ? 'text' : 'integer';
}

function whyNoSequence(name: string, { type, sequence }: CatalogColumn): string | undefined {
  if (!isInteger(type)) return noOrderOfType(name, type);
  if (!sequence) return notGenerated(name);
  if (sequence.cache > 1) return orderOnlyLooks(name, `a sequence with CACHE ${sequence.cache}`);
  if (sequence.step < 0) return orderOnlyLooks(name, 'a sequence that counts down');
  if (sequence.cycles) return orderOnlyLooks(name, 'a sequence with CYCLE');
  // Servers that share a table have steps, so that each has ids of its own.
  if (sequence.step !== 1) return orderOnlyLooks(name, `a sequence with INCREMENT ${sequence.step}`);
  return undefined;
}

/** Those that give out blocks of ids to each of their servers. */
const IN_BLOCKS = /tidb|vitess|singlestore|oceanbase/i;

async function inMySql(at: SqlColumn, name: string): Promise<Order> {
  const [table, schema] = namesOf(at.table);
  const [row] = (await at.run({
    strings: [
      'select c.extra as extra, version() as version, t.engine as engine from information_schema.columns c join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name where c.table_schema = coalesce(',
      ', database()) and c.table_name = ',
      ' and c.column_name = ',
      '',
    ],
    values: [schema ?? null, table, at.column],
  })) as { extra?: unknown; version?: unknown; engine?: unknown }[];
  const version = String(row?.version ?? '');
  if (!/auto_increment/i.test(String(row?.extra ?? ''))) return { reason: notGenerated(name) };
  if (IN_BLOCKS.test(version))
    return { reason: orderOnlyLooks(name, `${version}, whose servers take blocks of ids`) };
  // They forget the counter when they end, and give the ids of deleted last rows out again.
  const [major = 0, minor = 0] = version.split('.').map(Number.parseFloat);
  const forgets = /mariadb/i.test(version) ? major < 10 || (major === 10 && minor < 3) : major < 8;
  if (forgets)
    return {
      reason: orderOnlyLooks(name, `version ${version}, which gives ids of deleted last rows out again`),
    };
  const engine = String(row?.engine ?? '');
  if (!ENGINES.test(engine)) return { reason: orderOnlyLooks(name, `the engine ${engine}`) };
  const shared = await sharedWrites(at);
  return shared === undefined ? 'integer' : { reason: orderOnlyLooks(name, shared) };
}

/** Those of one server that keep the counter. */
const ENGINES = /^(?:innodb|myisam|aria|rocksdb)$/i;

/** The setting by which several servers write into one table; undefined where one does. */
async function sharedWrites(at: SqlColumn): Promise<string | undefined> {
  const rows = (await at.run({
    strings: [
      `show global variables where variable_name in ('auto_increment_increment', 'wsrep_on', 'group_replication_single_primary_mode')`,
    ],
    values: [],
  })) as object[];
  // By their places, since plugins of a library rename columns.
  const settings = new Map(rows.map((row) => Object.values(row).map(String) as [string, string]));
  const alone = {
    auto_increment_increment: '1',
    wsrep_on: 'OFF',
    group_replication_single_primary_mode: 'ON',
  };
  const found = Object.entries(alone).find(([setting, value]) => (settings.get(setting) ?? value) !== value);
  if (found) return `a server with ${found[0]} = ${settings.get(found[0])}`;
  return settings.has('auto_increment_increment')
    ? undefined
    : 'a server that hides auto_increment_increment';
}

/** Without the word, a new row gets the id of a last one that was deleted. */
const AUTOINCREMENT = /\bprimary\s+key\s+(?:asc\s+)?(?:on\s+conflict\s+\w+\s+)?autoincrement\b/i;

async function inSqlite(at: SqlColumn, name: string): Promise<Order> {
  const [table, schema] = namesOf(at.table);
  const master = schema === undefined ? 'sqlite_master' : `${at.quote(schema)}.sqlite_master`;
  const [row] = (await at.run({
    strings: [
      `select m.sql as made, (select p.name from pragma_table_info(m.name) p where p.pk = 1) as id from ${master} m where m.type = 'table' and m.name = `,
      '',
    ],
    values: [table],
  })) as { made?: unknown; id?: unknown }[];
  if (row?.id !== at.column) return { reason: notGenerated(name) };
  return AUTOINCREMENT.test(String(row.made))
    ? 'integer'
    : { reason: orderOnlyLooks(name, 'SQLite without AUTOINCREMENT') };
}

/** A name in a query, and that of its schema. */
function namesOf(quoted: string): readonly [table: string, schema?: string] {
  const parts = (quoted.match(/"(?:[^"]|"")*"|`(?:[^`]|``)*`|[^.]+/g) ?? [quoted]).map((part) =>
    part.replace(/^["`](.*)["`]$/s, '$1').replace(/""|``/g, (mark) => mark[0]!),
  );
  return [parts.at(-1)!, ...parts.slice(-2, -1)] as unknown as readonly [string, string?];
}
