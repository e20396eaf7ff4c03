import { Injectable } from '@nestjs/common';

export interface ProductRow {
  readonly sku: string;
  readonly name: string;
}

/** Stands for a database. */
@Injectable()
export class ProductRepository {
  /** What the database was asked for. */
  readonly asked: string[][] = [];
  private readonly rows = new Map(['mug', 'vase'].map((sku) => [sku, { sku, name: sku.toUpperCase() }]));

  /** The source of the filter. */
  async *ids(): AsyncGenerator<string[]> {
    yield [...this.rows.keys()];
  }

  /** `WHERE sku IN (…)`: the rows that exist, in any order. */
  async findBySkus(skus: readonly string[]): Promise<ProductRow[]> {
    this.asked.push([...skus]);
    return skus.map((sku) => this.rows.get(sku)).filter((row) => row !== undefined);
  }
}
