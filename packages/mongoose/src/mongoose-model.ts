import { BloomConfigError } from 'nestjs-bloom';
import { cannotBeIds, noSuchPath, severalValues } from './mongoose.messages.js';

/** A type of a path, of any version of Mongoose. */
export interface MongoosePath {
  /** Such as `String`. */
  readonly instance: string;
  readonly options: {
    readonly lowercase?: unknown;
    readonly uppercase?: unknown;
    readonly trim?: unknown;
    readonly set?: unknown;
    /** Mongoose makes the values. */
    readonly auto?: unknown;
  };
  readonly setters?: readonly unknown[];
  applySetters(value: unknown, scope: unknown): unknown;
}

interface MongooseSchema {
  readonly paths: Readonly<Record<string, unknown>>;
  readonly options: { readonly collation?: object };
  readonly discriminatorMapping?: { readonly key: string; readonly value: string; readonly isRoot: boolean };
  path(name: string): unknown;
}

/** A model, as far as its collection is read and written past the middleware of its schema. */
export interface MongooseModel {
  readonly modelName: string;
  readonly schema: MongooseSchema;
  readonly collection: MongooseCollection;
  readonly db: { asPromise(): Promise<unknown> };
}

/** The collection of the driver, as Mongoose gives it. */
// oxlint-disable-next-line typescript/no-explicit-any -- versions of the driver differ in their types
export type MongooseCollection = Record<string, (...args: any[]) => any>;

/** Types of paths whose values cannot be ids. */
const NO_IDS = ['Array', 'DocumentArray', 'Embedded', 'Subdocument', 'Map', 'Boolean', 'Date'];

/** Types of paths under which a document has several values. */
const SEVERAL = ['Array', 'DocumentArray', 'Map'];

/** @throws {BloomConfigError} when there is no such path, or it has not one value that can be an id. */
export function pathOf({ modelName, schema }: MongooseModel, path: string, maker: string): MongoosePath {
  const found = schema.path(path) as MongoosePath | undefined;
  if (!found)
    throw new BloomConfigError(noSuchPath(maker, modelName, path, Object.keys(schema.paths).join(', ')));
  if (NO_IDS.includes(found.instance)) {
    throw new BloomConfigError(cannotBeIds(maker, modelName, path, found.instance));
  }
  for (let end = path.indexOf('.'); end !== -1; end = path.indexOf('.', end + 1)) {
    const around = path.slice(0, end);
    const kind = (schema.path(around) as MongoosePath | undefined)?.instance ?? '';
    if (SEVERAL.includes(kind))
      throw new BloomConfigError(severalValues(maker, modelName, path, around, kind));
  }
  return found;
}
