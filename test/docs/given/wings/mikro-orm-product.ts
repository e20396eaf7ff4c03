import { defineEntity, p } from '@mikro-orm/core';

export const Product = defineEntity({ name: 'Product', properties: { sku: p.text().primary() } });
