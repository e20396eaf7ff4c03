import { BloomConfigError, type BloomIdKind } from 'nestjs-bloom';
import { onlyOf } from 'nestjs-bloom/sources';
import { notAPrismaClient, noSuchField } from './prisma.messages.js';
import { kindOf, modelBlock, primaryKeyOf } from './schema-text.js';

/** What is used of a generated client, extended or not, in one transaction or not. */
export interface PrismaClientLike {
  readonly $queryRawUnsafe: (query: string, ...values: unknown[]) => PromiseLike<unknown>;
}

interface FieldReference {
  readonly modelName: string;
  readonly name: string;
  readonly typeName: string;
}

/** What is used of `client.product`. */
export interface PrismaModelLike {
  readonly fields: object;
}

/** Types of Prisma whose values are no ids, and lists. */
export type NoPrismaIdType = 'Boolean' | 'DateTime' | 'Decimal' | 'Float' | 'Json' | `${string}[]`;

/**
 * The fields of a model that can be ids. While the compiler does not yet know the model, any: else it would
 * stop there.
 */
export type PrismaField<Model extends PrismaModelLike> = [keyof Model['fields']] extends [never]
  ? string
  : {
      [Name in keyof Model['fields'] & string]: Model['fields'][Name] extends {
        readonly typeName: NoPrismaIdType;
      }
        ? never
        : Name;
    }[keyof Model['fields'] & string];

/** A field of a model, as the generated client knows it. */
export interface ModelField {
  readonly name: string;
  /** `object` for a relation. */
  readonly kind: string;
  /** The other model of a relation. */
  readonly type: string;
  /** Both sides of a relation have it. */
  readonly relationName?: string;
  readonly dbName?: string | null;
}

interface RuntimeModel {
  readonly fields: readonly ModelField[];
  readonly dbName?: string | null;
  readonly schema?: string | null;
}

/** What the generated client knows of itself; no API of Prisma gives the names that the database has. */
interface ClientInternals {
  readonly _activeProvider?: string;
  readonly _runtimeDataModel?: { readonly models?: Readonly<Record<string, RuntimeModel>> };
  readonly _globalOmit?: Readonly<Record<string, Readonly<Record<string, boolean | undefined>> | undefined>>;
  readonly _engineConfig?: {
    readonly adapter?: { readonly options?: { readonly schema?: string } };
    readonly inlineSchema?: string;
  };
}

/** A field of a model, and the function that reads it, for errors. */
export interface WantedField {
  readonly maker: string;
  /** Undefined: the primary key. */
  readonly field: string | undefined;
}

export interface MappedField {
  readonly modelName: string;
  readonly field: string;
  readonly provider: string;
  readonly schema: string | undefined;
  readonly table: string;
  readonly column: string;
  /** The fields of each model, by its name. */
  readonly fieldsOf: (model: string) => readonly ModelField[];
  /** How Prisma makes the ids, where that is an order. */
  readonly made: BloomIdKind | undefined;
  /** The schema from which the client was generated. */
  readonly schemaText: string | undefined;
  /** The client leaves the field out of results, by its option `omit`. */
  readonly isOmitted: boolean;
}

/**
 * @throws {BloomConfigError} when there is no such field, or the client is one that does not say what it
 * maps.
 */
export function mappedField(
  client: PrismaClientLike,
  model: PrismaModelLike,
  { maker, field: wanted }: WantedField,
): MappedField {
  const {
    _activeProvider: provider,
    _runtimeDataModel: data,
    _engineConfig,
    _globalOmit,
  } = client as ClientInternals;
  const [reference] = Object.values((model?.fields ?? {}) as Record<string, FieldReference>);
  const modelName = reference?.modelName;
  const found = modelName === undefined ? undefined : data?.models?.[modelName];
  if (provider === undefined || modelName === undefined || !found) {
    throw new BloomConfigError(notAPrismaClient(maker));
  }
  const block = modelBlock(_engineConfig?.inlineSchema ?? '', modelName) ?? '';
  const field = wanted ?? onlyOf(maker, modelName, primaryKeyOf(block));
  const columns = found.fields.filter(({ kind }) => kind === 'scalar' || kind === 'enum');
  const column = columns.find(({ name }) => name === field);
  if (!column) {
    const names = columns.map(({ name }) => name).join(', ');
    throw new BloomConfigError(noSuchField(maker, modelName, field, names));
  }
  return {
    modelName,
    field,
    provider,
    schema: found.schema ?? _engineConfig?.adapter?.options?.schema,
    table: found.dbName ?? modelName,
    column: column.dbName ?? column.name,
    fieldsOf: (one) => data?.models?.[one]?.fields ?? [],
    made: kindOf(block, field),
    schemaText: _engineConfig?.inlineSchema,
    isOmitted: _globalOmit?.[propertyOf(modelName)]?.[field] ?? false,
  };
}

/** Where the client has the model: `product` of `Product`. */
export function propertyOf(modelName: string): string {
  return `${modelName[0]!.toLowerCase()}${modelName.slice(1)}`;
}
