import type { InjectionToken, Type } from '@nestjs/common';
import {
  BloomConfigError,
  type BloomId,
  type BloomIdSource,
  type BloomMark,
  type BloomNewPagesOptions,
  type BloomPageContext,
  type BloomPagingOptions,
  type BloomSourceFactory,
  fromPages,
} from 'nestjs-bloom';
import {
  checkedPaging,
  columnAndOptions,
  type ColumnAndOptions,
  columnName,
  madeFrom,
} from 'nestjs-bloom/sources';
import { idOfValue, typesAfter, valueAt } from './bson-values.js';
import { type MongooseModel, type MongoosePath, pathOf } from './mongoose-model.js';
import { nanAsKey, noModelNamed, notAModel, notMadeInOrder } from './mongoose.messages.js';
import { spellingOfPath } from './path-spelling.js';

/** Options of `fromMongoose`. */
export interface MongooseSourceOptions extends BloomPagingOptions {
  /**
   * The name of the connection in `MongooseModule.forRoot`, where it has one and the model is given by its
   * class.
   */
  readonly connection?: string;
  /** Which servers are read. Default `primary`; the lag of a secondary belongs to `rebuild.drainMs`. */
  readonly readPreference?: 'primary' | 'primaryPreferred' | 'secondary' | 'secondaryPreferred' | 'nearest';
}

/** A model of Mongoose, as far as its type is needed. */
export interface MongooseModelLike<Item> {
  readonly modelName: string;
  readonly collection: object;
  readonly schema: object;
  // oxlint-disable-next-line typescript/no-explicit-any -- arguments are those of each model
  new (...args: any[]): { toObject(...options: any[]): any } & { [Key in keyof Item]: unknown };
}

/**
 * The paths of a document that can be ids: text, numbers, bytes and ObjectIds; any text where its type is not
 * known. A path of a document inside it is checked further at the start.
 */
export type MongoosePathName<Item> = unknown extends Item
  ? string
  : | '_id'
    | {
        [Name in keyof Item & string]-?: NonNullable<Item[Name]> extends BloomId | { toHexString(): string }
          ? Name
          : NonNullable<Item[Name]> extends readonly unknown[] | ReadonlyMap<unknown, unknown> | Date
            ? never
            : NonNullable<Item[Name]> extends object
              ? `${Name}.${(keyof NonNullable<Item[Name]> & string) | `${string}.${string}`}`
              : never;
      }[keyof Item & string];

/**
 * All values of `_id` of a model of Mongoose, or of one path, read in pages of raw documents along the index
 * of `_id`, past the middleware of the schema. An ObjectId is its 24 digits.
 *
 * @param model the class whose name `MongooseModule.forFeature` registers, `getModelToken('Item')`, or the
 * model itself.
 * @example
 * BloomModule.forFeature({ name: 'items', source: fromMongoose(Item) });
 *
 * @throws {BloomConfigError} at the start of the application, when there is no such model or path.
 */
export function fromMongoose<Item = unknown>(
  model: Type<Item> | MongooseModelLike<Item> | string | symbol,
  options?: MongooseSourceOptions,
): BloomSourceFactory;
/** @param path the path that holds the ids. Left out: `_id`. */
export function fromMongoose<Item = unknown>(
  model: Type<Item> | MongooseModelLike<Item> | string | symbol,
  path: MongoosePathName<NoInfer<Item>>,
  options?: MongooseSourceOptions,
): BloomSourceFactory;
export function fromMongoose(
  model: Type | MongooseModelLike<unknown> | string | symbol,
  ...given: ColumnAndOptions<MongooseSourceOptions>
): BloomSourceFactory {
  const [path = '_id', { connection, readPreference = 'primary', ...paging }] = columnAndOptions(given);
  checkedPaging('fromMongoose', paging);
  const provided = isModel(model) ? { object: model } : { token: tokenOf(model, connection) };
  return madeFrom<MongooseModel>(provided, (made) => {
    if (!isModel(made)) throw new BloomConfigError(notAModel(made));
    return sourceOf(made, path, { readPreference, ...paging });
  });
}

function isModel(model: unknown): model is MongooseModel {
  return typeof model === 'function' && 'modelName' in model && 'collection' in model && 'schema' in model;
}

/** As `getModelToken` of `@nestjs/mongoose` makes it. */
function tokenOf(model: unknown, connection: string | undefined): InjectionToken {
  if (typeof model === 'string' || typeof model === 'symbol') return model;
  if (typeof model !== 'function') throw new BloomConfigError(noModelNamed(model));
  const token = `${model.name}Model`;
  return connection === undefined ? token : `${connection}Connection/${token}`;
}

type Document = Readonly<Record<string, unknown>>;

function sourceOf(
  model: MongooseModel,
  path: string,
  { readPreference, ...paging }: BloomPagingOptions & Pick<MongooseSourceOptions, 'readPreference'>,
): BloomIdSource {
  const type = pathOf(model, path, 'fromMongoose');
  const spelling = spellingOfPath(model, path, type);
  const { discriminatorMapping: kind } = model.schema;
  // Models that share a collection: each has the documents of its own kind, and the one that they extend has
  // all.
  const own: Document = kind && !kind.isRoot ? { [kind.key]: kind.value } : {};

  async function find(
    filter: Document,
    { take, signal }: Pick<BloomPageContext, 'take'> & Partial<BloomPageContext>,
    last?: { readonly skip: number },
  ): Promise<readonly Document[]> {
    await model.db.asPromise();
    const cursor = await model.collection.find!(
      { ...own, ...filter },
      {
        // MongoDB refuses a path beside the document around it.
        projection: path.startsWith('_id.') ? { _id: 1 } : { _id: 1, [path]: 1 },
        sort: { _id: last ? -1 : 1 },
        ...last,
        limit: take,
        batchSize: take,
        readPreference,
        signal,
        // An integer of 64 bits that JavaScript rounds would be another id, and another place.
        useBigInt64: true,
      },
    );
    return cursor.toArray() as Promise<readonly Document[]>;
  }

  async function count(): Promise<number> {
    await model.db.asPromise();
    return (await model.collection.estimatedDocumentCount!()) as number;
  }

  return fromPages<Document>(
    async (after, context) => {
      if (after === undefined) return find({}, context);
      const place = after._id;
      if (Number.isNaN(place)) throw new BloomConfigError(nanAsKey(model.modelName));
      const page = await find({ _id: { $gt: place } }, context);
      if (page.length > 0) return page;
      const types = typesAfter(place);
      return types.length === 0 ? [] : find({ _id: { $type: types } }, context);
    },
    {
      ...paging,
      key: (document) => idOfValue(valueAt(document, path)),
      ...(spelling && { spelling }),
      ...(isInOrder(path, type)
        ? { newRows: newRowsOf(type, find), idOrder: 'text' }
        : { idOrder: { reason: notMadeInOrder(model.modelName, path, type.instance) } }),
      readsFrom: columnName(String(model.collection.name), path),
      // Documents of one kind among others have no estimate, and counting reads them all.
      ...((kind === undefined || kind.isRoot) && { count }),
    },
  );
}

/** An ObjectId that Mongoose makes begins with the second; the application may give others anything. */
function isInOrder(path: string, { instance, options }: MongoosePath): boolean {
  return path === '_id' && /^ObjectI[dD]$/.test(instance) && options.auto === true;
}

type Find = (
  filter: Document,
  context: Pick<BloomPageContext, 'take'> & Partial<BloomPageContext>,
  last?: { readonly skip: number },
) => Promise<readonly Document[]>;

/** The documents by their ObjectIds, and no `_id` of another type. */
function newRowsOf(type: MongoosePath, find: Find): BloomNewPagesOptions<Document> {
  const after = (mark: BloomMark) => ({ $gt: type.applySetters(mark, undefined) });
  return {
    readPage: ({ mark, after: row }, context) => {
      const from = row ? { $gt: row._id } : mark === undefined ? {} : after(mark);
      return find({ _id: { $type: 'objectId', ...from } }, context);
    },
    newest: async (others = 0) => {
      const [row] = await find({ _id: { $type: 'objectId' } }, { take: 1 }, { skip: others });
      return row && (idOfValue(row._id) as BloomMark);
    },
  };
}
