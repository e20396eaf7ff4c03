import type { InjectionToken } from '@nestjs/common';
import { BloomConfigError, type BloomSourceFactory } from 'nestjs-bloom';
import {
  checkedPaging,
  columnAndOptions,
  type ColumnAndOptions,
  fromSql,
  madeFrom,
  type SqlColumn,
  type SqlSourceOptions,
  withNumbers,
} from 'nestjs-bloom/sources';
import {
  mappedField,
  type PrismaClientLike,
  type PrismaField,
  type PrismaModelLike,
} from './prisma-client.js';
import { providerNotRead } from './prisma.messages.js';

/** Options of `fromPrisma`. */
export interface PrismaSourceOptions extends SqlSourceOptions {
  /**
   * The schema of the table. Default: that of the model, or of the driver adapter, else the one that the
   * connection finds first.
   */
  readonly schema?: string;
}

const POSTGRES = ['postgresql', 'cockroachdb'];
const OTHERS = ['mysql', 'sqlite'];

/**
 * All values of the primary key of a Prisma model, or of one field, read in pages of raw rows. Pages follow
 * the column where no two rows share a value, else the primary key, by the catalog of Postgres.
 *
 * @param client the class or token of the client in the application, or the client itself.
 * @example
 * BloomModule.forFeature([
 *   { name: 'orders', source: fromPrisma(PrismaService, (prisma) => prisma.order) },
 *   { name: 'products', source: fromPrisma(PrismaService, (prisma) => prisma.product, 'sku') },
 * ]);
 *
 * @throws {BloomConfigError} at the start of the application, when there is no such field or table.
 */
export function fromPrisma<Client extends PrismaClientLike, Model extends PrismaModelLike>(
  client: InjectionToken<Client> | Client,
  model: (client: Client) => Model,
  options?: PrismaSourceOptions,
): BloomSourceFactory;
/** @param field the field that holds the ids. Left out: the primary key. */
export function fromPrisma<Client extends PrismaClientLike, Model extends PrismaModelLike>(
  client: InjectionToken<Client> | Client,
  model: (client: Client) => Model,
  field: PrismaField<NoInfer<Model>>,
  options?: PrismaSourceOptions,
): BloomSourceFactory;
export function fromPrisma<Client extends PrismaClientLike, Model extends PrismaModelLike>(
  client: InjectionToken<Client> | Client,
  model: (client: Client) => Model,
  ...given: ColumnAndOptions<PrismaSourceOptions>
): BloomSourceFactory {
  const [field, { schema, ...options }] = columnAndOptions(given);
  checkedPaging('fromPrisma', options);
  return madeFrom<Client>(
    typeof client === 'object' ? { object: client } : { token: client },
    async (made) => {
      const { at, ...known } = describe(made, model(made), { field, schema });
      return fromSql(at, { ...known, ...options });
    },
  );
}

function describe(
  client: PrismaClientLike,
  model: PrismaModelLike,
  { field, schema: given }: { readonly field: string | undefined; readonly schema: string | undefined },
) {
  const { provider, schema, table, column, made } = mappedField(client, model, {
    maker: 'fromPrisma',
    field,
  });
  const isPostgres = POSTGRES.includes(provider);
  if (!isPostgres && !OTHERS.includes(provider)) {
    throw new BloomConfigError(providerNotRead(provider));
  }
  const mark = provider === 'mysql' ? '`' : '"';
  const quote = (name: string) => `${mark}${name.replaceAll(mark, mark + mark)}${mark}`;
  const inSchema = given ?? schema;
  const at: SqlColumn = {
    maker: 'fromPrisma',
    isPostgres,
    ignoresCase: provider === 'mysql',
    isMySql: provider === 'mysql',
    isSqlite: provider === 'sqlite',
    run: async (query) => {
      const text = isPostgres ? withNumbers(query) : query.strings.join('?');
      return (await client.$queryRawUnsafe(text, ...query.values)) as object[];
    },
    table: inSchema === undefined ? quote(table) : `${quote(inSchema)}.${quote(table)}`,
    column,
    quote,
  };
  // The schema says which field is the primary key.
  const isKey = field === undefined && !isPostgres;
  return { at, ...(isKey && { key: [column] }), ...(made && { ids: made }) };
}
