import type { BloomGuardRunner } from 'nestjs-bloom';
import { type IdRegistrar, registrarOf } from 'nestjs-bloom/sources';
import { GuardedReads, READS } from './guarded-reads.js';
import { idOrigins } from './id-origins.js';
import {
  type MappedField,
  mappedField,
  type PrismaClientLike,
  type PrismaField,
  type PrismaModelLike,
  propertyOf,
} from './prisma-client.js';
import { IdReader, RETURN_ROWS } from './seen-ids.js';
import { type Fields, type Operation, writtenRows } from './written-rows.js';

/** A client that can be extended. */
export interface ExtendableClient extends PrismaClientLike {
  // oxlint-disable-next-line typescript/no-explicit-any -- its types are those of each generated client
  readonly $extends: any;
}

/** Options of `extendWithBloom`. */
export interface PrismaRegistersOptions {
  /** The name of the filter. */
  readonly filter: string;
  /**
   * For ids that cannot be recorded. Default `'throw'`: nothing is written. `'queue'`: as of
   * `@BloomRegisters`.
   */
  readonly onError?: 'throw' | 'queue';
  /**
   * Answers `findUnique` of an absent id with null, and `findUniqueOrThrow` with Prisma's own error, without
   * a query: as `@BloomGuarded` on a method that returns null. Calls in a batch (`$transaction([…])`) and of
   * relations (`findUnique(…).kind()`) are not checked. Default false.
   */
  readonly guard?: boolean;
}

const WRITES = [...RETURN_ROWS, 'createMany', 'updateMany'];

/**
 * Extends a client so that it records the ids of rows that it creates or changes: before the query where its
 * arguments have them, else before its result is returned. An add that fails fails the query, unless
 * `onError: 'queue'`. A query whose ids neither its arguments nor its result have is refused. With `guard` it
 * answers for absent ids too. Apply other query extensions before this one.
 *
 * @param runner `BloomGuardRunner`, as Nest injects it.
 * @example
 * {
 *   provide: PRISMA,
 *   inject: [PrismaService, BloomGuardRunner],
 *   useFactory: (prisma: PrismaService, runner: BloomGuardRunner) =>
 *     extendWithBloom(prisma, runner, (client) => client.product, 'sku', { filter: 'products' }),
 * }
 *
 * @throws {BloomConfigError} when there is no such field, or the database may set a foreign key to its
 * default.
 */
export function extendWithBloom<Client extends ExtendableClient, Model extends PrismaModelLike>(
  client: Client,
  runner: BloomGuardRunner,
  model: (client: Client) => Model,
  field: PrismaField<NoInfer<Model>>,
  options: PrismaRegistersOptions,
): Client {
  const mapped = mappedField(client, model(client), { maker: 'extendWithBloom', field });
  const writes = new RecordedWrites({ ...options, runner, mapped });
  const calling = (operations: readonly string[], run: (call: Operation) => Promise<unknown>) =>
    Object.fromEntries(operations.map((operation) => [operation, run]));
  const reads = options.guard ? new GuardedReads(runner, options.filter, mapped) : undefined;
  return client.$extends({
    name: `nestjs-bloom of ${options.filter}`,
    query: {
      // Rows of the model may be written with those of any other.
      $allModels: calling(WRITES, (call) => writes.run(call)),
      ...(reads && { [propertyOf(mapped.modelName)]: calling(READS, (call) => reads.run(call)) }),
    },
  }) as Client;
}

/** What a query returned, and the fields of its rows. */
interface Written {
  readonly result: unknown;
  readonly ids: readonly unknown[];
}

interface Recorded extends PrismaRegistersOptions {
  readonly runner: BloomGuardRunner;
  readonly mapped: MappedField;
}

/** Writes of one model, and those of others by which its rows get ids. */
class RecordedWrites {
  private readonly reader: IdReader;
  private readonly registrar: IdRegistrar;

  constructor(private readonly recorded: Recorded) {
    this.reader = new IdReader(recorded.filter, idOrigins(recorded.mapped));
    this.registrar = registrarOf(recorded.runner, recorded.filter);
  }

  async run({ model, operation, args = {}, query }: Operation): Promise<unknown> {
    const { mapped, filter, onError } = this.recorded;
    const { registrar } = this;
    const rows = writtenRows(mapped.fieldsOf, { model, operation, args });
    const { ids, isInResult, isOnlyInResult } = this.reader.read(operation, rows);
    if (!isInResult && ids.length === 0) return query(args);
    let registration = await registrar.register({ filter, ids, onError });
    let result: unknown;
    try {
      if (!isInResult) result = await query(args);
      else {
        const written = await this.runAndRead(args, query);
        result = written.result;
        if (isOnlyInResult) {
          const others = this.reader.idsReturned(written.ids).filter((id) => !ids.includes(id));
          await registrar.registerMade({ filter, ids: others, onError });
        } else {
          registration = await registrar.registerWritten(registration, written.ids, `${model}.${operation}`);
        }
      }
    } catch (error) {
      await registrar.registerFailed(registration);
      throw error;
    }
    await registrar.registerAgain(registration);
    return result;
  }

  /** Reads the field of the rows too, and takes it out again where the caller has not asked for it. */
  private async runAndRead(args: Fields, query: Operation['query']): Promise<Written> {
    const { field, isOmitted } = this.recorded.mapped;
    const { select, omit } = args as { select?: Fields | null; omit?: Fields | null };
    const isLeftOut = select ? !select[field] : Boolean(omit?.[field] ?? isOmitted);
    const asking = { ...args };
    if (isLeftOut && select) asking.select = { ...select, [field]: true };
    else if (isLeftOut) asking.omit = { ...omit, [field]: false };
    const result = await query(asking);
    const rows = [result].flat() as Fields[];
    const ids = rows.map((row) => row?.[field]);
    if (!isLeftOut) return { result, ids };
    const without = rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => name !== field)),
    );
    return { result: Array.isArray(result) ? without : without[0], ids };
  }
}
