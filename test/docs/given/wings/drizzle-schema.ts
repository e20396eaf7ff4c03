import { pgTable, text } from 'drizzle-orm/pg-core';

export const DATABASE = Symbol('DATABASE');
export const products = pgTable('products', { sku: text().primaryKey() });
