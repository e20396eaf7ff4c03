import { Schema } from 'mongoose';

export class Product {
  sku!: string;
}
export const ProductSchema = new Schema<Product>({ sku: String });
