import type { BloomId } from 'nestjs-bloom';

/** A value of a document that is no plain one of JavaScript, of any version of the driver. */
interface BsonValue {
  readonly _bsontype: string;
  /** Present on a `Binary`, and on a `Buffer` that Mongoose has made. */
  readonly sub_type?: number;
  readonly _subtype?: number;
  readonly buffer?: Uint8Array;
  readonly position?: number;
  toHexString?(): string;
  toString(): string;
}

/** The kind of binary data that holds a UUID. */
const UUID_SUBTYPE = 4;

/**
 * A value that a document has as the id that is looked up: an ObjectId by its 24 digits, a UUID by its text,
 * a Long and a Decimal128 by their digits. What cannot be an id is returned as it is, for the filter to
 * refuse. Undefined where there is no value.
 */
export function idOfValue(value: unknown): BloomId | undefined {
  if (value === null || value === undefined) return undefined;
  if (value instanceof Uint8Array) return isUuid(value) ? uuidText(value) : (value as Uint8Array);
  const type = typeof value === 'object' ? (value as Partial<BsonValue>)._bsontype : undefined;
  if (type === undefined) return value as BloomId;
  const bson = value as BsonValue;
  switch (type) {
    case 'ObjectId':
    case 'ObjectID':
      return bson.toHexString!();
    case 'Binary': {
      const bytes = bson.buffer!.subarray(0, bson.position);
      return isUuid(bson, bytes) ? uuidText(bytes) : bytes;
    }
    case 'Long':
    case 'Int32':
    case 'Double':
    case 'Decimal128':
      return bson.toString();
    default:
      return value as BloomId;
  }
}

/**
 * The value at a path of a document, or of an object that the driver will write as one. An empty path is the
 * value itself. An array on the way is returned: it has several values, which cannot be one id.
 */
export function valueAt(document: unknown, path: string): unknown {
  let value = document;
  for (const name of path === '' ? [] : path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value)) return value;
    // A subdocument of Mongoose has getters, which are not written.
    const { toBSON } = value as { toBSON?: () => unknown };
    value = ((toBSON === undefined ? value : toBSON.call(value)) as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

function isUuid(
  of: { readonly sub_type?: number; readonly _subtype?: number } | Uint8Array,
  bytes = of,
): boolean {
  const { sub_type: kind, _subtype: kindOfBuffer } = of as Partial<BsonValue>;
  return (kind ?? kindOfBuffer) === UUID_SUBTYPE && (bytes as Uint8Array).length === 16;
}

function uuidText(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * The types of BSON in the order in which MongoDB sorts them. Those of a row are compared by their values.
 */
const IN_ORDER = [
  ['minKey'],
  ['null'],
  ['number'],
  ['symbol', 'string'],
  ['object'],
  ['array'],
  ['binData'],
  ['objectId'],
  ['bool'],
  ['date'],
  ['timestamp'],
  ['regex'],
  ['javascript'],
  ['javascriptWithScope'],
  ['maxKey'],
];

const TYPE_NAMES: Readonly<Record<string, string>> = {
  ObjectId: 'objectId',
  ObjectID: 'objectId',
  Binary: 'binData',
  Long: 'number',
  Int32: 'number',
  Double: 'number',
  Decimal128: 'number',
  Timestamp: 'timestamp',
  BSONSymbol: 'symbol',
  BSONRegExp: 'regex',
  MinKey: 'minKey',
  MaxKey: 'maxKey',
  Code: 'javascriptWithScope',
};

const OF_JAVASCRIPT: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  bigint: 'number',
  boolean: 'bool',
};

/**
 * The types, by their names in `$type`, that MongoDB sorts after that of a value. A comparison finds values
 * of one type alone, so what follows has to be asked for by its type.
 */
export function typesAfter(value: unknown): string[] {
  const name = typeName(value);
  const place = IN_ORDER.findIndex((names) => names.includes(name));
  return IN_ORDER.slice(place + 1).flat();
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  const plain = OF_JAVASCRIPT[typeof value];
  if (plain !== undefined) return plain;
  const type = (value as Partial<BsonValue>)._bsontype;
  if (type !== undefined) return TYPE_NAMES[type] ?? 'object';
  if (value instanceof Uint8Array) return 'binData';
  if (value instanceof Date) return 'date';
  if (value instanceof RegExp) return 'regex';
  return Array.isArray(value) ? 'array' : 'object';
}
