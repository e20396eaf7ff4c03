/** A client that Prisma has generated, as far as a README needs it. */
export declare class PrismaService {
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
