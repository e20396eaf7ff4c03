import { BloomConfigError } from '../../common/index.js';
import type { BloomId } from '../../filter/index.js';
import type { BloomGuardRunner, Registration } from '../../guard/index.js';
import { type Fields, listed, nestedRows } from './nested-writes.js';
import {
  type MappedField,
  mappedField,
  type PrismaClientLike,
  type PrismaField,
  type PrismaModelLike,
} from './prisma-client.js';
import { idNotKnown } from './prisma.messages.js';

/** A client that can be extended. */
export interface ExtendableClient extends PrismaClientLike {
  // oxlint-disable-next-line typescript/no-explicit-any -- its types are those of each generated client
  readonly $extends: any;
}

/** Of `extendWithBloom`. */
export interface PrismaRegistersOptions {
  /** The name of the filter. */
  readonly filter: string;
  /** For ids that cannot be recorded. Default `'throw'`: nothing is written. `'queue'`: as of `@BloomRegisters`. */
  readonly onError?: 'throw' | 'queue';
}

interface Operation {
  readonly model: string;
  readonly operation: string;
  readonly args?: Fields;
  readonly query: (args: Fields) => Promise<unknown>;
}

/** Operations that return the rows which they have created. */
const RETURN_ROWS = ['create', 'createManyAndReturn', 'upsert'];
const WRITES = [...RETURN_ROWS, 'createMany', 'update', 'updateMany', 'updateManyAndReturn'];

/**
 * The client, extended so that the ids of rows that it creates or changes are recorded: before the query where they are in its arguments,
 * else, where the database makes them, before its result is returned. An add that fails fails the query, unless `onError: 'queue'`.
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
 * @throws {BloomConfigError} when there is no such field.
 */
export function extendWithBloom<Client extends ExtendableClient, Model extends PrismaModelLike>(
  client: Client,
  runner: BloomGuardRunner,
  model: (client: Client) => Model,
  field: PrismaField<NoInfer<Model>>,
  options: PrismaRegistersOptions,
): Client {
  const mapped = mappedField(client, model(client), { maker: 'extendWithBloom', field });
  const writes = new RecordedWrites({ ...options, runner, mapped, field });
  const query = Object.fromEntries(
    WRITES.map((operation) => [operation, (call: Operation) => writes.run(call)]),
  );
  return client.$extends({
    name: `nestjs-bloom of ${options.filter}`,
    // Rows of the model may be written with those of any other.
    query: { $allModels: query },
  }) as Client;
}

interface Recorded extends PrismaRegistersOptions {
  readonly runner: BloomGuardRunner;
  readonly mapped: MappedField;
  readonly field: string;
}

/** What a write sets the field to. */
interface WrittenIds {
  readonly ids: readonly BloomId[];
  /** The database makes that of a row. */
  readonly isMade: boolean;
}

/** Writes of one model, and those of others that write rows of it. */
class RecordedWrites {
  constructor(private readonly recorded: Recorded) {}

  async run({ model, operation, args = {}, query }: Operation): Promise<unknown> {
    const { mapped, runner } = this.recorded;
    const { registrar } = runner;
    const { created, changed } = rowsIn(operation, args);
    const nested = nestedRows(mapped.fieldsOf, mapped.modelName, {
      from: model,
      data: [...created, ...changed],
    });
    const within = this.idsOf(nested.created, nested.changed);
    if (within.isMade) throw this.unseen('the database makes it', 'give the value itself');
    const { ids, isMade } =
      model === mapped.modelName ? this.idsOf(created, changed) : { ids: [], isMade: false };
    if (isMade && !RETURN_ROWS.includes(operation)) {
      throw this.unseen('the database makes it', `use ${operation}AndReturn`);
    }
    if (!isMade && ids.length + within.ids.length === 0) return query(args);
    const registration = await this.register([...ids, ...within.ids]);
    let result: unknown;
    try {
      if (!isMade) result = await query(args);
      else result = await this.runAndRecord(args, query);
    } catch (error) {
      await registrar.registerFailed(registration);
      throw error;
    }
    await registrar.registerAgain(registration);
    return result;
  }

  /** Reads the field of the rows too, and takes it out again where the caller has not asked for it. */
  private async runAndRecord(args: Fields, query: Operation['query']): Promise<unknown> {
    const { runner, filter, onError, field, mapped } = this.recorded;
    const { select, omit } = args as { select?: Fields | null; omit?: Fields | null };
    const isLeftOut = select ? !select[field] : Boolean(omit?.[field] ?? mapped.isOmitted);
    const asking = { ...args };
    if (isLeftOut && select) asking.select = { ...select, [field]: true };
    else if (isLeftOut) asking.omit = { ...omit, [field]: false };
    const result = await query(asking);
    const rows = [result].flat() as Fields[];
    const ids = rows.map((row) => row[field]).filter((id) => id !== null) as BloomId[];
    await runner.registrar.registerMade({ filter, ids, onError });
    if (!isLeftOut) return result;
    const without = rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => name !== field)),
    );
    return Array.isArray(result) ? without : without[0];
  }

  private register(ids: readonly BloomId[]): Promise<Registration> {
    const { runner, filter, onError } = this.recorded;
    return runner.registrar.register({ filter, ids, onError });
  }

  private idsOf(created: readonly Fields[], changed: readonly Fields[]): WrittenIds {
    const values = [...created, ...changed].map((fields) => this.idOf(fields));
    return {
      ids: values.filter((id) => id !== null && id !== undefined),
      isMade: values.slice(0, created.length).includes(undefined),
    };
  }

  /** Undefined where it is not there. */
  private idOf(fields: Fields): BloomId | null | undefined {
    const value = fields[this.recorded.field];
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value as BloomId;
    if ('set' in value) return value.set as BloomId;
    throw this.unseen('it is computed by the database', 'set the value itself');
  }

  private unseen(why: string, instead: string): BloomConfigError {
    const { filter, field, mapped } = this.recorded;
    return new BloomConfigError(idNotKnown(filter, mapped.modelName, field, why, instead));
  }
}

/** The rows of its own model that an operation creates, and what it sets in others. */
function rowsIn(operation: string, args: Fields): { readonly created: Fields[]; readonly changed: Fields[] } {
  const { data, create, update } = args;
  if (operation === 'upsert') return { created: listed(create), changed: listed(update) };
  // A row whose fields all have defaults needs no data.
  const rows = operation === 'create' ? [(data ?? {}) as Fields] : listed(data);
  return operation.startsWith('update') ? { created: [], changed: rows } : { created: rows, changed: [] };
}
