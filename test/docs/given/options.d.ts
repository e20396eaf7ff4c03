// What docs/options.md leaves out.
declare const BloomGuarded: typeof import('nestjs-bloom').BloomGuarded;
declare const BloomGuardedMany: typeof import('nestjs-bloom').BloomGuardedMany;
declare const BloomInterceptor: typeof import('nestjs-bloom').BloomInterceptor;
declare const Injectable: typeof import('@nestjs/common').Injectable;
declare const GoneException: typeof import('@nestjs/common').GoneException;
type ExecutionContext = import('@nestjs/common').ExecutionContext;

/** That of Express. */
interface Request {
  header(name: string): string | undefined;
}

declare class Product {
  readonly id: string;
  readonly sku: string;
}
declare const product: Product;
declare const repository: { findBySkus(skus: readonly string[]): Promise<Product[]> };
declare const products: import('nestjs-bloom').BloomFilter;
declare const filter: import('nestjs-bloom').BloomFilter;
declare const dataSource: import('typeorm').DataSource;

/** That of the package `dataloader`. */
declare class DataLoader<Key, Value> {
  constructor(load: (keys: readonly Key[]) => PromiseLike<ArrayLike<Value | Error>>);
}
