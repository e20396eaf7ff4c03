// What docs/interop.md leaves out.
declare const BloomModule: typeof import('nestjs-bloom').BloomModule;
declare const BloomGuarded: typeof import('nestjs-bloom').BloomGuarded;
declare const Injectable: typeof import('@nestjs/common').Injectable;
declare const Module: typeof import('@nestjs/common').Module;

declare const cuckoo: typeof import('@nestjs-bloom/interop').cuckoo;
declare const guava: typeof import('@nestjs-bloom/interop').guava;
declare const redisBloom: typeof import('@nestjs-bloom/interop').redisBloom;
declare const redisson: typeof import('@nestjs-bloom/interop').redisson;

declare const redis: import('ioredis').Redis;
declare const ids: AsyncIterable<string>;
declare const capacity: number;
declare const errorRate: number;
declare const filter: import('nestjs-bloom').BloomFilter;

declare class ProductIds {
  ids(): AsyncIterable<string>;
}
declare class Product {
  readonly sku: string;
}
declare class ShopDatabase {
  readonly query: {
    readonly products: { findFirst(options: { readonly where: unknown }): Promise<Product | undefined> };
  };
}
declare const products: { readonly sku: import('drizzle-orm').AnyColumn };
declare const eq: typeof import('drizzle-orm').eq;
