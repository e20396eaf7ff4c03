export { blockedForms, parseBlocked } from './blocked/blocked-meta.js';
export { blockedPermissions } from './blocked/blocked-permissions.js';
export { asBuffer } from './client/as-buffer.js';
export { type RedisConnection } from './client/redis-connection.js';
export { type BloomRedis, checkRedisOption } from './client/redis-option.js';
export { isRefusal, isUnknownCommand } from './client/refused-command.js';
export { ScriptKeys } from './client/script-keys.js';
export { defineScripts, Script } from './client/script.js';
export { unexpectedReplyError } from './client/unexpected-reply.js';
export { coreLua } from './lua/core.generated.js';
export { type Adoption } from './protocol/adoption.js';
export { unavailable } from './protocol/batching-filter.js';
export { countsSumField } from './protocol/counts-sum.js';
export { type FilterContext } from './protocol/filter-context.js';
export { RedisLeases } from './protocol/leases.js';
export { RETIRED_LIFE_MS, PIECE_BYTES, MAX_ATTEMPTS } from './protocol/limits.js';
export { MetadataCache } from './protocol/metadata-cache.js';
export {
  type MetadataCodec,
  type OfflineCommand,
  type PublishCommand,
  type OfflineState,
} from './protocol/metadata-codec.js';
export { type MetadataReading, type MetadataSnapshot } from './protocol/metadata-snapshot.js';
export { type Outdated, isOutdated } from './protocol/outdated.js';
export { outcomesOf } from './protocol/unknown-reason.js';
export { partName } from './protocol/part-name.js';
export { partsOfFormat } from './protocol/parts-format.js';
export {
  createdAndRemoved,
  type Permission,
  metadataPermissions,
  segmentPermissions,
  refusedPermissions,
} from './protocol/permissions.js';
export {
  SEGMENT_DAMAGED,
  keepsChanging,
  KEY_REPLACED,
  keyNotReady,
  noKeyToAdopt,
  noHashSlot,
} from './protocol/protocol.messages.js';
export { publishStep } from './protocol/publish-step.js';
export { RedisKeys } from './protocol/redis-keys.js';
export { type RedisContext, type RedisLayout } from './protocol/redis-layout.js';
export { type Refusal } from './protocol/refusal.js';
export { removeKeys } from './protocol/remove-keys.js';
export { BlockReader } from './protocol/segments/block-reader.js';
export { type SegmentScripts } from './protocol/segments/segment-scripts.js';
export { SegmentWriter } from './protocol/segments/segment-writer.js';
export {
  SEGMENT_BLOCKS,
  type SegmentedGeneration,
  SEGMENT_BYTES,
  segmentKeys,
  segmentLength,
  segmentedGeneration,
  tagText,
} from './protocol/segments/segments.js';
export { explainNoMemory } from './protocol/server-memory.js';
export { type ServerScripts } from './protocol/server-scripts.js';
export { type StagingContext, StagingBase, type RebuiltFilter } from './protocol/staging-base.js';
export { StagingMemory } from './protocol/staging-memory.js';
export { type StoredFilterContext, StoredFilterInRedis } from './protocol/stored-filter-in-redis.js';
export {
  type KnownMeta,
  parseMeta,
  type StoredMeta,
  describeMeta,
  type MetaFields,
  type MetaForm,
  PENDING,
} from './protocol/stored-meta.js';
export { assertOk } from './protocol/swap-steps.js';
export { RedisStore, type RedisStoreOptions } from './redis-store.js';
