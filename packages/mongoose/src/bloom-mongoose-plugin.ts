import { BloomConfigError, type BloomGuardRunner, type BloomId } from 'nestjs-bloom';
import { type IdRegistrar, registrarOf } from 'nestjs-bloom/sources';
import { idOfValue } from './bson-values.js';
import { type MongooseCollection, type MongooseModel, pathOf } from './mongoose-model.js';
import { idNotKnown, noPlugin } from './mongoose.messages.js';
import { SessionCommits, type WrittenSession } from './session-commits.js';
import { WriteReader, type WrittenIds } from './written-ids.js';

/** Options of `bloomMongoosePlugin`. */
export interface MongooseRegistersOptions {
  /** `BloomGuardRunner`, as Nest injects it. */
  readonly runner: BloomGuardRunner;
  /** The path of a document that is its id: `_id`, or another one, such as `profile.slug`. */
  readonly path: string;
  /** The name of the filter. */
  readonly filter: string;
  /**
   * For ids that cannot be recorded. Default `'throw'`: nothing is written. `'queue'`: as of
   * `@BloomRegisters`.
   */
  readonly onError?: 'throw' | 'queue';
}

/** A schema of Mongoose, as far as its type is needed. */
export interface MongooseSchemaLike {
  // oxlint-disable-next-line typescript/no-explicit-any -- its types are those of each schema
  on(event: 'init', listener: (model: any) => void): unknown;
}

/** What the server replies to an update that returns a document. */
interface FoundDocument {
  readonly value: unknown;
  readonly lastErrorObject?: { readonly upserted?: unknown; readonly updatedExisting?: boolean };
}

interface WriteOptions {
  readonly session?: WrittenSession;
  readonly upsert?: boolean;
  readonly includeResultMetadata?: boolean;
}

/** The methods of a collection by which Mongoose writes, and where their options are. */
const WRITES: Readonly<
  Record<
    string,
    { readonly optionsAt: number; read(reader: WriteReader, args: readonly unknown[]): WrittenIds }
  >
> = {
  insertOne: { optionsAt: 1, read: (reader, [document]) => reader.ofInserts([document]) },
  insertMany: { optionsAt: 1, read: (reader, [documents]) => reader.ofInserts([documents].flat()) },
  bulkWrite: { optionsAt: 1, read: (reader, [operations]) => reader.ofBulk(operations as unknown[]) },
  ...Object.fromEntries(
    ['updateOne', 'updateMany', 'findOneAndUpdate'].map((name) => [
      name,
      {
        optionsAt: 2,
        read: (reader: WriteReader, [filter, update, options]: readonly unknown[]) =>
          reader.ofUpdate(filter, update, options as WriteOptions),
      },
    ]),
  ),
  ...Object.fromEntries(
    ['replaceOne', 'findOneAndReplace'].map((name) => [
      name,
      {
        optionsAt: 2,
        read: (reader: WriteReader, [filter, document, options]: readonly unknown[]) =>
          reader.ofReplacement(filter, document, options as WriteOptions),
      },
    ]),
  ),
};

/**
 * A plugin of a schema: records the ids of all documents that the models of the schema write, before the
 * write is sent. An `_id` that the server makes in an upsert is recorded before the result is returned. An id
 * that cannot be recorded fails the write, unless `onError: 'queue'`.
 *
 * Make the schema where the runner is injected, so that each application has its own.
 *
 * @example
 * MongooseModule.forFeatureAsync([
 *   {
 *     name: Item.name,
 *     inject: [BloomGuardRunner],
 *     useFactory: (runner: BloomGuardRunner) =>
 *       SchemaFactory.createForClass(Item).plugin(bloomMongoosePlugin, { runner, path: '_id', filter: 'items'
 *       }),
 *   },
 * ]);
 *
 * @throws {BloomConfigError} for an option that is missing; when a model is made of the schema that has no
 * such path,
 *   or several values there.
 */
export function bloomMongoosePlugin(schema: MongooseSchemaLike, options: MongooseRegistersOptions): void {
  const { runner, path, filter, onError } = (options ?? {}) as Partial<MongooseRegistersOptions>;
  for (const [name, value] of Object.entries({ path, filter })) {
    if (typeof value !== 'string' || value === '')
      throw new BloomConfigError(noPlugin(name, 'a text', value));
  }
  if (onError !== undefined && onError !== 'throw' && onError !== 'queue') {
    throw new BloomConfigError(noPlugin('onError', "'throw' or 'queue'", onError));
  }
  if (!runner || !registrarOf(runner, filter))
    throw new BloomConfigError(noPlugin('runner', 'the BloomGuardRunner', runner));
  const recorded = new WeakSet<MongooseCollection>();
  schema.on('init', (model: MongooseModel) => {
    pathOf(model, path!, 'bloomMongoosePlugin');
    // A model may be initialised several times, and models of one collection share it.
    if (recorded.has(model.collection)) return;
    recorded.add(model.collection);
    new RecordedCollection(options).recordIn(model.collection);
  });
}

/** Records what is written by one collection. */
class RecordedCollection {
  private readonly reader: WriteReader;
  private readonly registrar: IdRegistrar;
  private readonly commits: SessionCommits;

  constructor(private readonly options: MongooseRegistersOptions) {
    this.reader = new WriteReader(options.path, (why, instead) => this.unseen(why, instead));
    this.registrar = registrarOf(options.runner);
    this.commits = new SessionCommits(this.registrar);
  }

  recordIn(collection: MongooseCollection): void {
    for (const name of Object.keys(WRITES)) {
      const write = collection[name]!;
      collection[name] = (...args: unknown[]) =>
        this.run(name, args, (given) => write.apply(collection, [...given]) as Promise<unknown>);
    }
  }

  private async run(
    name: string,
    args: unknown[],
    write: (args: readonly unknown[]) => Promise<unknown>,
  ): Promise<unknown> {
    const { read, optionsAt } = WRITES[name]!;
    const options = (args[optionsAt] ?? {}) as WriteOptions;
    const { ids, isMade } = read(this.reader, args);
    if (ids.length === 0 && !isMade) return write(args);
    const { filter, onError } = this.options;
    const registration = await this.registrar.register({ filter, ids, onError });
    let result: unknown;
    try {
      result = await (isMade ? this.writeAndRecord(name, args, write) : write(args));
    } catch (error) {
      await this.registrar.registerFailed(registration);
      throw error;
    }
    await this.commits.noteWritten(registration, options.session);
    return result;
  }

  /** For an upsert without an `_id`: the reply has the one that the server made. */
  private async writeAndRecord(
    name: string,
    args: unknown[],
    write: (args: readonly unknown[]) => Promise<unknown>,
  ): Promise<unknown> {
    if (!name.startsWith('findOneAnd')) {
      let result: unknown;
      try {
        result = await write(args);
      } catch (error) {
        // Some of many operations may have been done.
        await this.recordMade(madeIn((error as { result?: unknown }).result));
        throw error;
      }
      if ((result as { acknowledged?: boolean } | undefined)?.acknowledged === false) {
        throw this.unseen('the server does not acknowledge the write', 'give the _id yourself');
      }
      await this.recordMade(madeIn(result));
      return result;
    }
    const [filter, change, options] = args as [unknown, unknown, WriteOptions | undefined];
    const result = (await write([
      filter,
      change,
      { ...options, includeResultMetadata: true },
    ])) as FoundDocument;
    const { upserted, updatedExisting } = result.lastErrorObject ?? {};
    if (updatedExisting !== true) {
      if (upserted === undefined) throw this.unseen('the server does not name it', 'give the _id yourself');
      await this.recordMade([upserted]);
    }
    return options?.includeResultMetadata ? result : result.value;
  }

  private async recordMade(values: readonly unknown[]): Promise<void> {
    const { filter, onError } = this.options;
    const ids = values.map(idOfValue).filter((id): id is BloomId => id !== undefined);
    if (ids.length > 0) await this.registrar.registerMade({ filter, ids, onError });
  }

  private unseen(why: string, instead: string): BloomConfigError {
    const { filter, path } = this.options;
    return new BloomConfigError(idNotKnown(filter, path, why, instead));
  }
}

/** The `_id`s that the server has made. */
function madeIn(result: unknown): unknown[] {
  const { upsertedId, upsertedIds } = (result ?? {}) as {
    readonly upsertedId?: unknown;
    readonly upsertedIds?: Readonly<Record<string, unknown>>;
  };
  return [upsertedId, ...Object.values(upsertedIds ?? {})];
}
