import { Args, Field, ID, ObjectType, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { BloomGuarded } from 'nestjs-bloom';
import { ProductLoader } from './product.loader.js';
import { ProductRepository } from './product.repository.js';

@ObjectType()
export class Product {
  @Field(() => ID) sku!: string;
  @Field() name!: string;
}

@ObjectType()
export class Line {
  @Field(() => ID) sku!: string;
}

@Resolver(() => Product)
export class ProductResolver {
  constructor(private readonly products: ProductRepository) {}

  /** The field may be null, so an absent SKU is null; a field that may not be null is an error. */
  @Query(() => Product, { nullable: true })
  @BloomGuarded('products')
  async product(@Args('sku', { type: () => ID }) sku: string): Promise<Product | null> {
    return (await this.products.findBySkus([sku]))[0] ?? null;
  }

  @Query(() => [Line])
  basket(@Args('skus', { type: () => [ID] }) skus: string[]): Line[] {
    return skus.map((sku) => ({ sku }));
  }
}

@Resolver(() => Line)
export class LineResolver {
  constructor(private readonly loader: ProductLoader) {}

  @ResolveField(() => Product, { nullable: true })
  async product(@Parent() line: Line): Promise<Product | null> {
    return this.loader.load(line.sku);
  }
}
