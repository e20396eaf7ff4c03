export { fromPrisma, type PrismaSourceOptions } from './from-prisma.js';
export type { PrismaClientLike, PrismaField, PrismaModelLike } from './prisma-client.js';
