import { fromTypeOrm } from '@nestjs-bloom/typeorm';
import { Product } from './product.entity.js';

export const productIds = fromTypeOrm(Product, 'sku');
