import type { BloomGuardRunner, BloomId } from 'nestjs-bloom';
import { guardFunction } from 'nestjs-bloom/sources';
import type { MappedField } from './prisma-client.js';
import { isId } from './seen-ids.js';
import type { Fields, Operation } from './written-rows.js';

/** Operations that find one row by its id. */
export const READS = ['findUnique', 'findUniqueOrThrow'] as const;

/** `PrismaClientKnownRequestError`, as far as it is used. */
interface NotFoundError extends Error {
  readonly code: string;
  readonly clientVersion: string;
  readonly meta?: object;
}

type Guarded = (id: BloomId, find: () => Promise<unknown>) => Promise<unknown>;

/** Finds rows of one model, unless its filter says that there is none. */
export class GuardedReads {
  private readonly guards: Readonly<Record<string, Guarded>>;
  /** Prisma's error of the first row that was not found: its class is not that of another copy of Prisma. */
  private notFound: NotFoundError | undefined;

  constructor(
    runner: BloomGuardRunner,
    filter: string,
    private readonly mapped: MappedField,
  ) {
    const options = { onAbsent: 'null' } as const;
    this.guards = Object.fromEntries(
      READS.map((operation) => {
        const method = `${mapped.modelName}.${operation}`;
        return [operation, guardFunction(runner, { filter, method, options }, (_: BloomId, find) => find())];
      }),
    );
  }

  async run({ operation, args = {}, query, __internalParams: call }: Operation): Promise<unknown> {
    const id = this.idIn(args.where as Fields | undefined);
    // The other queries of a batch wait for each of it. The relation of a row may be null.
    const isAlone = call?.transaction?.kind !== 'batch' && call?.dataPath?.length === 0;
    if (!isId(id) || !isAlone) return query(args);
    const guarded = this.guards[operation]!;
    if (operation === 'findUnique') return guarded(id, () => query(args));
    let thrown: unknown;
    const row = await guarded(id, async () => {
      try {
        return await query(args);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        this.notFound ??= error;
        thrown = error;
        return null;
      }
    });
    if (row !== null) return row;
    if (thrown !== undefined) throw thrown;
    if (this.notFound) throw likeError(this.notFound);
    // The first in this process: Prisma's answer shows how it says so.
    return query(args).catch((error: unknown) => {
      if (isNotFound(error)) this.notFound ??= error;
      throw error;
    });
  }

  /** What the row must have as its id; undefined where the condition does not say it. */
  private idIn(where: Fields = {}): unknown {
    const { field, fieldsOf, modelName } = this.mapped;
    if (where[field] !== undefined) return where[field];
    const names = new Set([...fieldsOf(modelName).map(({ name }) => name), 'AND', 'OR', 'NOT']);
    // A key of several fields has a name of its own.
    const key = Object.entries(where).find(([name]) => !names.has(name))?.[1];
    return (key as Fields | null | undefined)?.[field];
  }
}

function isNotFound(error: unknown): error is NotFoundError {
  return error instanceof Error && (error as Partial<NotFoundError>).code === 'P2025';
}

/** Another error of the class, without the place in the code from which the first one came. */
function likeError({ constructor, message, code, clientVersion, meta }: NotFoundError): Error {
  const [text] = message.split('\n').slice(-1);
  return Reflect.construct(constructor, [text, { code, clientVersion, meta }]) as Error;
}
