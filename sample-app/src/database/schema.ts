import { sql, type SQL } from 'drizzle-orm';
import { integer, numeric, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

export const products = pgTable('products', {
  sku: text().primaryKey(),
  description: text().notNull(),
  unitPrice: numeric('unit_price', { precision: 12, scale: 2, mode: 'number' }).notNull(),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
});

export const orders = pgTable('orders', {
  id: integer().primaryKey().generatedAlwaysAsIdentity(),
  sku: text().notNull(),
  placedAt: timestamp('placed_at', { withTimezone: true }).notNull().defaultNow(),
});

export const customers = pgTable('customers', {
  phone: text().primaryKey(),
  name: text().notNull(),
  signedUpAt: timestamp('signed_up_at', { withTimezone: true }).notNull().defaultNow(),
});

export const flashSaleEntries = pgTable(
  'flash_sale_entries',
  {
    saleId: text('sale_id').notNull(),
    customerId: text('customer_id').notNull(),
    quantity: integer().notNull(),
    enteredAt: timestamp('entered_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.saleId, table.customerId] })],
);

/** A real shop has migrations; this one creates what is missing. */
export const createMissingTables: readonly SQL[] = [
  sql`create table if not exists products (
    sku text primary key,
    description text not null,
    unit_price numeric(12, 2) not null,
    created_at timestamptz not null
  )`,
  sql`create table if not exists orders (
    id integer generated always as identity primary key,
    sku text not null,
    placed_at timestamptz not null default now()
  )`,
  sql`create table if not exists customers (
    phone text primary key,
    name text not null,
    signed_up_at timestamptz not null default now()
  )`,
  sql`create table if not exists flash_sale_entries (
    sale_id text not null,
    customer_id text not null,
    quantity integer not null,
    entered_at timestamptz not null default now(),
    primary key (sale_id, customer_id)
  )`,
];
