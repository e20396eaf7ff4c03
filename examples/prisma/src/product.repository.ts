import { Inject, Injectable } from '@nestjs/common';
import type { Product } from './generated/client.js';
import { PRISMA, type PrismaService } from './prisma.service.js';

@Injectable()
export class ProductRepository {
  constructor(@Inject(PRISMA) private readonly prisma: PrismaService) {}

  async findBySku(sku: string): Promise<Product | null> {
    return this.prisma.product.findUnique({ where: { sku } });
  }

  async create(product: { sku: string; name: string }): Promise<Product> {
    return this.prisma.product.create({ data: product });
  }
}
