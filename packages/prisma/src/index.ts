export { extendWithBloom, type ExtendableClient, type PrismaRegistersOptions } from './extend-with-bloom.js';
export { fromPrisma, type PrismaSourceOptions } from './from-prisma.js';
export type { NoPrismaIdType, PrismaClientLike, PrismaField, PrismaModelLike } from './prisma-client.js';
