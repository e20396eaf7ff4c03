// What docs/sources.md leaves out.
declare const BloomModule: typeof import('nestjs-bloom').BloomModule;
declare const Module: typeof import('@nestjs/common').Module;
type Provider = import('@nestjs/common').Provider;

declare class Order {
  id: number;
}
declare class Product {
  sku: string;
}
declare const DATABASE: unique symbol;
declare const KYSELY: unique symbol;
declare const KNEX: unique symbol;
declare const PG_POOL: unique symbol;
declare const SHARDS: readonly (typeof PG_POOL)[];
declare const PRISMA: unique symbol;
declare const REGION: unique symbol;

declare class Database {
  readonly orders: { readonly id: number };
  readonly products: { readonly sku: string };
  idsOf(region: string): import('nestjs-bloom').BloomIdSource;
}
declare const orders: import('drizzle-orm').Table;
declare const products: {
  readonly sku: ReturnType<
    typeof import('drizzle-orm/pg-core').pgTable<
      'products',
      { sku: ReturnType<typeof import('drizzle-orm/pg-core').text> }
    >
  >['sku'];
};

/** A model of a client that Prisma has generated, as far as the page needs it. */
interface Model<Name extends string, Field extends string, Type extends string> {
  readonly fields: Readonly<
    Record<
      Field,
      {
        readonly modelName: Name;
        readonly name: string;
        readonly typeName: Type;
        readonly isList: boolean;
      }
    >
  >;
}

declare class PrismaService {
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>;
  $extends(extension: object): PrismaService;
  readonly order: Model<'Order', 'id', 'Int'>;
  readonly product: Model<'Product', 'sku', 'String'>;
}

/** Those of `@nestjs/mongoose`. */
declare const SchemaFactory: {
  createForClass<Class>(target: new () => Class): import('mongoose').Schema<Class>;
};
declare const MongooseModule: {
  forFeatureAsync(
    factories: readonly {
      readonly name: string;
      readonly inject: readonly unknown[];
      readonly useFactory: (runner: import('nestjs-bloom').BloomGuardRunner) => import('mongoose').Schema;
    }[],
  ): unknown;
};

/** That of Postgres.js. */
declare function sql<Row>(strings: TemplateStringsArray, ...values: unknown[]): Promise<Row[]>;

declare class Item {
  name: string;
}
declare const postgresCopy: typeof import('@nestjs-bloom/postgres').postgresCopy;
