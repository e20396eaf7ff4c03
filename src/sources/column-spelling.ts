import { type BloomId, integer, lowerCase, objectId, padded, uuid } from '../filter/index.js';
import type { BloomIdSpelling } from '../rebuild/index.js';

/** What collations of MySQL and MariaDB take for equal and `lowerCase` does not. */
const ALSO_EQUAL: readonly (readonly [RegExp, string])[] = [
  [/^(?:utf8(?:mb[34])?|utf16(?:le)?|utf32|ucs2)_general_(?:nopad_)?ci$/, "'ß' and 's'"],
  [/^latin1_swedish_(?:nopad_)?ci$/, "'ü' and 'y'"],
];

/** A column, as the library that maps it knows it. */
export interface DescribedColumn {
  /** For messages: `products.sku`. */
  readonly name: string;
  /** As the database names it, such as `character(10)`; with `collate …` as of `CatalogColumn`. */
  readonly type: string;
  /** Its collation, as the database names it. */
  readonly collation?: string | undefined;
  /**
   * Texts are compared without case by default, and without spaces at their ends, as in MySQL and SQL Server.
   */
  readonly ignoresCase?: boolean;
}

const NAMED: Readonly<Record<string, (id: BloomId) => BloomId>> = {
  integer,
  lowerCase,
  objectId,
  padded,
  uuid,
};

/** What the locale of a collation of Postgres may say, and `lowerCase` does not follow. */
const EQUAL_BY_LOCALE = "'a-b' and 'ab' (if its locale has ka-shifted)";

const INTEGERS =
  /^(?:(?:tiny|small|medium|big)?int(?:eger|\d)?|(?:small|big)?serial\d?)(?: unsigned| zerofill)*$/;
const TEXTS =
  /^(?:n?varchar2?|character varying|char varying|(?:tiny|medium|long|n)?text|n?clob|string|name|enum|set|simple-enum)$/;
const UUIDS = /^(?:uuid|uniqueidentifier|guid)$/;
const PADDED = /^(?:n?char|character|bpchar|national char(?:acter)?)$/;
const BYTES = /^(?:bytea|(?:tiny|medium|long)?blob|(?:var)?binary|raw)$/;
/**
 * Collations that tell different texts apart. Those with `_cs` tell case apart, but take NFC and NFD,
 * invisible characters, or `ß` and `ss` for equal.
 */
const EXACT = /_bin2?$|^(?:c|posix|binary|default|ucs_basic)$|^c\.|^[a-z]{2}_[a-z]{2}(?:\.[\w-]+)?$|-x-icu$/i;

/** What is known of the spellings of a column's values; undefined where each value has one. */
export function spellingOf({
  name,
  type,
  collation,
  ignoresCase,
}: DescribedColumn): BloomIdSpelling | undefined {
  const [plain = type, loose] = type.split(' collate ');
  const bare = bareType(plain);
  const column = `${name} is of type ${type}`;
  const by = (chosen: string, reason = column) => ({
    column: reason,
    name: chosen,
    normalize: NAMED[chosen]!,
  });
  if (UUIDS.test(bare)) return by('uuid');
  if (INTEGERS.test(bare)) return by('integer');
  if (bare === 'citext') return by('lowerCase');
  if (/^object_?id$/.test(bare)) return by('objectId');
  if (BYTES.test(bare)) return undefined;
  if (!TEXTS.test(bare) && !PADDED.test(bare)) return { column };
  if (loose !== undefined) return { ...by('lowerCase'), alsoEqual: EQUAL_BY_LOCALE };
  const alsoEqual = ALSO_EQUAL.find(([collations]) => collations.test(collation ?? ''))?.[1];
  const isExact = collation === undefined ? !ignoresCase : EXACT.test(collation);
  // MySQL and SQL Server do not compare spaces at the end, whatever else they tell apart.
  if (isExact) return PADDED.test(bare) || ignoresCase ? by('padded') : undefined;
  return {
    ...by(
      'lowerCase',
      collation === undefined
        ? `${column}, which is compared without case`
        : `${column} with the collation ${collation}`,
    ),
    ...(alsoEqual !== undefined && { alsoEqual }),
  };
}

/** Without length, precision and schema: `character varying` of `character varying(20)`. */
function bareType(type: string): string {
  return type
    .toLowerCase()
    .replace(/\([^)]*\)/, '')
    .replace(/^.*\./, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Whether a cursor reads a Postgres column as text: the driver's value, above all a date, lacks part of it.
 */
export function isReadAsText(type: string): boolean {
  const bare = bareType(type);
  return !TEXTS.test(bare) && !PADDED.test(bare) && !/^(?:uuid|citext|int[24]?|integer|smallint)$/.test(bare);
}

export function isUuid(type: string): boolean {
  return UUIDS.test(bareType(type));
}

/** Whether the database fills texts with spaces up to their length. */
export function isPadded(type: string): boolean {
  return PADDED.test(bareType(type));
}

/** Whether a column is one of integers. */
export function isInteger(type: string): boolean {
  return INTEGERS.test(bareType(type));
}

/** Whether a column is one of texts that keep their length and are compared with case. */
export function isText(type: string): boolean {
  return TEXTS.test(bareType(type)) && !/\bcollate\b|^(?:enum|name)$/.test(type);
}

/** Whether values are read as they are, since their text is another one. */
export function isBytes(type: string): boolean {
  return BYTES.test(bareType(type));
}

/**
 * Table and column, to compare with what another process reads: libraries write the same table differently.
 */
export function columnName(table: string, column: string): string {
  const bare = table.replace(/["`[\]]/g, '').replace(/^.*\./, '');
  return `${bare}.${column}`.toLowerCase();
}
