export { blockedForms, parseBlocked } from './blocked/blocked-meta.js';
export { blockedPermissions } from './blocked/blocked-permissions.js';
export { RedisBoard } from './board/redis-board.js';
export { asBuffer } from './client/script.js';
export { type RedisConnection } from './client/redis-connection.js';
export { type BloomRedis, type BloomRedisClient, checkRedisOption } from './client/redis-option.js';
export { isRefusal, isUnknownCommand } from './client/server-replies.js';
export { ScriptKeys } from './client/script.js';
export { defineScripts, Script } from './client/script.js';
export { unexpectedReplyError } from './client/server-replies.js';
export { coreLua } from './lua/core.generated.js';
export { type Adoption } from './meta/metadata-codec.js';
export { countsSumField } from './meta/stored-meta.js';
export { type FilterContext } from './meta/filter-context.js';
export { RebuildLock } from './lock/rebuild-lock.js';
export { RETIRED_LIFE_MS, PIECE_BYTES, MAX_ATTEMPTS } from './swap/rebuild-step.js';
export { MetadataCache } from './meta/metadata-cache.js';
export {
  type MetadataCodec,
  type OfflineCommand,
  type PublishCommand,
  type OfflineState,
} from './meta/metadata-codec.js';
export { type MetadataReading, type MetadataSnapshot } from './meta/stored-meta.js';
export { type Outdated, outcomesOf, unavailable } from './meta/unknown-reason.js';
export { partName } from './meta/redis-keys.js';
export { partsOfFormat } from './meta/redis-keys.js';
export {
  createdAndRemoved,
  type Permission,
  metadataPermissions,
  segmentPermissions,
  refusedPermissions,
} from './filter/permissions.js';
export { SEGMENT_DAMAGED, keepsChanging } from './meta/meta.messages.js';
export { publishStep } from './swap/rebuild-step.js';
export { RedisKeys } from './meta/redis-keys.js';
export { type RedisContext, type RedisLayout } from './meta/filter-context.js';
export { assertRefusal, type Refusal, REFUSALS, runStep, wordIn } from './swap/rebuild-step.js';
export { removeKeys } from './swap/remove-keys.js';
export { BlockReader } from './staging/block-reader.js';
export { SegmentWriter } from './staging/segment-writer.js';
export {
  SEGMENT_BLOCKS,
  type SegmentedGeneration,
  SEGMENT_BYTES,
  segmentKeys,
  segmentLength,
  segmentedGeneration,
  tagText,
} from './staging/segments.js';
export { explainNoMemory } from './staging/staging-memory.js';
export { type ServerScripts } from './meta/server-scripts.js';
export { type StagingContext, StagingBase, type RebuiltFilter } from './staging/staging-base.js';
export { StagingMemory } from './staging/staging-memory.js';
export { type StoredFilterContext, StoredFilterInRedis } from './filter/stored-filter-in-redis.js';
export {
  type Meta,
  parseMeta,
  type RawMeta,
  describeMeta,
  type MetaFields,
  type MetaFormat,
  PENDING,
} from './meta/stored-meta.js';
export { assertOk } from './swap/commit-swap.js';
export { RedisStore, type RedisStoreOptions } from './redis-store.js';
