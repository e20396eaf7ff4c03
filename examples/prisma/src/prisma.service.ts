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

/** The client of the application: it records SKUs that it writes, and asks for none that does not exist. */
export const PRISMA = Symbol('PRISMA');

export const guardedClient = {
  provide: PRISMA,
  inject: [PrismaService, BloomGuardRunner],
  useFactory: (prisma: PrismaService, runner: BloomGuardRunner) =>
    extendWithBloom(prisma, runner, (client) => client.product, 'sku', { filter: 'products', guard: true }),
};
