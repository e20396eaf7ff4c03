import type { BloomId, BloomIdSpelling } from 'nestjs-bloom';
import { spellingOf } from 'nestjs-bloom/sources';
import { idOfValue } from './bson-values.js';
import type { MongooseModel, MongoosePath } from './mongoose-model.js';

/** What Mongoose calls the types of paths, as databases call those of columns. */
const COLUMN_TYPES: Readonly<Record<string, string>> = {
  ObjectId: 'objectid',
  ObjectID: 'objectid',
  UUID: 'uuid',
  Number: 'integer',
  Int32: 'integer',
  Double: 'integer',
  BigInt: 'bigint',
  String: 'text',
  Buffer: 'bytea',
};

/**
 * What is known of the spellings that a query of Mongoose takes for one value; undefined where each value has
 * one.
 */
export function spellingOfPath(
  model: MongooseModel,
  path: string,
  type: MongoosePath,
): BloomIdSpelling | undefined {
  const name = `${model.modelName}.${path}`;
  const { lowercase, uppercase, trim, set } = type.options;
  const hasSetters = Boolean(lowercase || uppercase || trim || set) || (type.setters?.length ?? 0) > 0;
  if (type.instance === 'String') {
    const collation = collationOf(model);
    if (collation === 'other') return { column: `${name} is text with a collation of its own` };
    if (collation === 'folding') return spellingOf({ name, type: 'text', ignoresCase: true });
    if (hasSetters) return asSet(name, type);
  }
  return spellingOf({ name, type: COLUMN_TYPES[type.instance] ?? type.instance });
}

/** Queries of Mongoose run the setters of a path on what they look for. */
function asSet(name: string, type: MongoosePath): BloomIdSpelling {
  return {
    column: `${name} is a String with setters (lowercase, uppercase, trim or set)`,
    name: 'the setters of the path',
    normalize: (id: BloomId) => {
      if (typeof id !== 'string') return id;
      return idOfValue(type.applySetters(id, undefined)) ?? id;
    },
  };
}

function collationOf({ schema }: MongooseModel): 'none' | 'folding' | 'other' {
  const { locale, alternate, numericOrdering } = (schema.options.collation ?? {}) as Record<string, unknown>;
  if (locale === undefined || locale === 'simple') return 'none';
  return alternate === 'shifted' || numericOrdering === true ? 'other' : 'folding';
}
