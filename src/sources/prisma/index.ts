export type { BloomId } from '../../filter/index.js';
export type { BloomGuardRunner } from '../../guard/index.js';
export type {
  BloomIdsContext,
  BloomIdSource,
  BloomIdSpelling,
  BloomMark,
  BloomMarkedIds,
} from '../../rebuild/index.js';
export type {
  BloomOrderOptions,
  BloomPagingOptions,
  BloomSourceFactory,
  BloomTableOptions,
  SqlSourceOptions,
} from '../index.js';
export { extendWithBloom, type ExtendableClient, type PrismaRegistersOptions } from './extend-with-bloom.js';
export { fromPrisma, type PrismaSourceOptions } from './from-prisma.js';
export type { NoPrismaIdType, PrismaClientLike, PrismaField, PrismaModelLike } from './prisma-client.js';
