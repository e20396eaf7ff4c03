import { defineEntity, p, Type } from '@mikro-orm/core';

/** Stored without its head. */
class Label extends Type<string, string> {
  override convertToJSValue(stored: string) {
    return `X-${stored}`;
  }

  override getColumnType() {
    return 'text';
  }
}

export const Product = defineEntity({
  name: 'Product',
  tableName: 'products',
  properties: {
    id: p.uuid().primary(),
    sku: p.text().unique(),
    no: p.bigint(),
    code: p.text().columnType('citext').nullable(),
    shelf: p.character().length(10),
    price: p.decimal().nullable(),
    label: p.type(Label).nullable(),
    digest: p.blob(),
    madeAt: p.datetime().nullable(),
  },
  uniques: [{ properties: ['no'] }],
  filters: { nothing: { name: 'nothing', cond: { sku: '' }, default: true } },
});

export const Order = defineEntity({
  name: 'Order',
  tableName: 'Orders',
  properties: { no: p.integer().primary().autoincrement(), note: p.text().nullable() },
});

export const Visit = defineEntity({
  name: 'Visit',
  tableName: 'visits',
  schema: 'shop',
  properties: {
    at: p.datetime(6).primary(),
    no: p.integer().fieldName('visit_no').primary(),
    visitor: p.text().fieldName('visitor_key'),
  },
});

export const Colour = defineEntity({
  name: 'Colour',
  tableName: 'colours',
  view: true,
  expression: 'select 1',
  properties: { colour: p.string().primary() },
});

export const Unknown = defineEntity({ name: 'Unknown', properties: { id: p.text().primary() } });

export const Gone = defineEntity({
  name: 'Gone',
  tableName: 'gone',
  properties: { id: p.text().primary() },
});
