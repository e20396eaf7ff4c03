import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import { BloomGuardRunner } from 'nestjs-bloom';
import { extendWithBloom } from '@nestjs-bloom/prisma';
import { type Prisma, PrismaClient } from './generated/client.js';

const options = {
  adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }),
  log: [{ emit: 'event', level: 'query' }],
} satisfies Prisma.PrismaClientOptions;

@Injectable()
export class PrismaService extends PrismaClient<typeof options> implements OnModuleDestroy {
  constructor() {
    super(options);
  }

  async onModuleDestroy(): Promise<void> {
    await this.$disconnect();
  }
}

/** The client that creates products: what it writes is in the filter before anybody can see the row. */
export const PRISMA = Symbol('PRISMA');

export const registeringClient = {
  provide: PRISMA,
  inject: [PrismaService, BloomGuardRunner],
  useFactory: (prisma: PrismaService, runner: BloomGuardRunner) =>
    extendWithBloom(prisma, runner, (client) => client.product, 'sku', { filter: 'products' }),
};
