// What docs/sources.md leaves out.
declare const BloomModule: typeof import('nestjs-bloom').BloomModule;
declare const Module: typeof import('@nestjs/common').Module;
type Provider = import('@nestjs/common').Provider;

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
  readonly products: { readonly sku: string };
  idsOf(region: string): import('nestjs-bloom').BloomIdSource;
}
declare const products: {
  readonly sku: ReturnType<
    typeof import('drizzle-orm/pg-core').pgTable<
      'products',
      { sku: ReturnType<typeof import('drizzle-orm/pg-core').text> }
    >
  >['sku'];
};

/** A client that Prisma has generated, as far as the page needs it. */
declare class PrismaService {
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>;
  $extends(extension: object): PrismaService;
  readonly product: {
    readonly fields: {
      readonly sku: {
        readonly modelName: 'Product';
        readonly name: string;
        readonly typeName: 'String';
        readonly isList: boolean;
      };
    };
  };
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
