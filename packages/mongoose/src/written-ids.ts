import type { BloomId } from 'nestjs-bloom';
import { idOfValue, valueAt } from './bson-values.js';

type Fields = Readonly<Record<string, unknown>>;

/** What a write sets the path to. */
export interface WrittenIds {
  readonly ids: readonly BloomId[];
  /** Whether the server may make the `_id` of a document that it inserts, so that only its reply has it. */
  readonly isMade: boolean;
}

/** Reads the ids in the arguments of a write, as the driver gets them. */
export class WriteReader {
  constructor(
    private readonly path: string,
    /** Makes the error for a value that only the server knows. */
    private readonly unknown: (why: string, instead: string) => Error,
  ) {}

  ofInserts(documents: readonly unknown[]): WrittenIds {
    const { path } = this;
    const values = documents.map((document) => valueAt(document, path));
    // Mongoose gives each document its _id; what the driver alone is given has none yet.
    if (path === '_id' && values.includes(undefined)) {
      throw this.unknown('the driver makes it', 'give the _id yourself');
    }
    return { ids: known(values), isMade: false };
  }

  ofUpdate(
    filter: unknown,
    update: unknown,
    { upsert = false }: { readonly upsert?: boolean } = {},
  ): WrittenIds {
    const set = Array.isArray(update) ? this.inPipeline(update) : this.inOperators((update ?? {}) as Fields);
    return this.withFilter(set, filter, upsert);
  }

  ofReplacement(
    filter: unknown,
    document: unknown,
    { upsert = false }: { readonly upsert?: boolean } = {},
  ): WrittenIds {
    return this.withFilter([valueAt(document, this.path)], filter, upsert);
  }

  ofBulk(operations: readonly unknown[]): WrittenIds {
    const all = operations.map((operation) => {
      const [name, given] = Object.entries(operation as Fields)[0] ?? [];
      const { document, filter, update, replacement, upsert } = (given ?? {}) as Fields;
      const isUpsert = { upsert: upsert === true };
      if (name === 'insertOne') return this.ofInserts([document ?? given]);
      if (name === 'replaceOne') return this.ofReplacement(filter, replacement, isUpsert);
      return name === 'updateOne' || name === 'updateMany' ? this.ofUpdate(filter, update, isUpsert) : NONE;
    });
    return { ids: all.flatMap(({ ids }) => ids), isMade: all.some(({ isMade }) => isMade) };
  }

  /** An insert by an update takes what its filter says that values are equal to. */
  private withFilter(set: readonly unknown[], filter: unknown, isUpsert: boolean): WrittenIds {
    const ids = known(set);
    if (!isUpsert) return { ids, isMade: false };
    const equal = known(equalities(filter, this.path));
    return { ids: [...ids, ...equal], isMade: this.path === '_id' && ids.length + equal.length === 0 };
  }

  private inOperators(update: Fields): unknown[] {
    const values: unknown[] = [];
    for (const [operator, given] of Object.entries(update)) {
      const fields = (given ?? {}) as Fields;
      // Mongoose sends operators; the driver refuses a mixture.
      if (!operator.startsWith('$')) values.push(...setIn({ [operator]: given }, this.path));
      else if (operator === '$set' || operator === '$setOnInsert') values.push(...setIn(fields, this.path));
      else if (operator !== '$unset') {
        const changed = operator === '$rename' ? (Object.values(fields) as string[]) : Object.keys(fields);
        if (changed.some((name) => below(name, this.path) !== undefined)) throw this.computed(operator);
      }
    }
    return values;
  }

  private inPipeline(stages: readonly unknown[]): unknown[] {
    const values: unknown[] = [];
    for (const stage of stages as readonly Fields[]) {
      for (const [operator, given] of Object.entries(stage)) {
        if (operator === '$unset') continue;
        const isSet = operator === '$set' || operator === '$addFields';
        // An update cannot change the _id of the document that it reads.
        if (!isSet && this.path !== '_id') throw this.computed(operator);
        for (const [name, value] of isSet ? Object.entries(given as Fields) : []) {
          const rest = below(name, this.path);
          // A document around the path may be an expression at any depth.
          if (rest === undefined) continue;
          if (rest !== '' || isExpression(value)) throw this.computed(operator);
          values.push(value);
        }
      }
    }
    return values;
  }

  private computed(operator: string): Error {
    return this.unknown(`${operator} computes it`, 'set the value itself');
  }
}

const NONE: WrittenIds = { ids: [], isMade: false };

function known(values: readonly unknown[]): BloomId[] {
  return values.map(idOfValue).filter((id) => id !== undefined);
}

/** Where a path lies in a field: `slug` for `profile.slug` in `profile`. Undefined if it lies elsewhere. */
function below(name: string, path: string): string | undefined {
  if (name === path) return '';
  return path.startsWith(`${name}.`) ? path.slice(name.length + 1) : undefined;
}

/** The values that a path gets from fields, by itself or with a document around it. */
function setIn(fields: Fields, path: string): unknown[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const rest = below(name, path);
    return rest === undefined ? [] : [valueAt(value, rest)];
  });
}

/** What a pipeline evaluates; other values are literal. */
function isExpression(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith('$');
  if (value instanceof Uint8Array) return false;
  return Array.isArray(value) || (typeof value === 'object' && value !== null && idOfValue(value) === value);
}

/** All values that a filter may say the path is equal to: one too many is one id that has no document. */
function equalities(filter: unknown, path: string): unknown[] {
  if (typeof filter !== 'object' || filter === null) return [];
  return Object.entries(filter).flatMap(([name, condition]) => {
    if (name === '$and' || name === '$or')
      return (condition as unknown[]).flatMap((one) => equalities(one, path));
    const rest = below(name, path);
    return rest === undefined ? [] : equalTo(condition).map((value) => valueAt(value, rest));
  });
}

function equalTo(condition: unknown): unknown[] {
  const isOperators =
    typeof condition === 'object' &&
    condition !== null &&
    Object.getPrototypeOf(condition) === Object.prototype &&
    Object.keys(condition).some((name) => name.startsWith('$'));
  if (!isOperators) return condition instanceof RegExp ? [] : [condition];
  const { $eq, $in, $all } = condition as { $eq?: unknown; $in?: unknown[]; $all?: unknown[] };
  // A list of one value is the same condition.
  return [$eq, ...[$in, $all].flatMap((list) => (list?.length === 1 ? list : []))];
}
