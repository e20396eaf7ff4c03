/**
 * For `@nestjs-bloom/cli` alone, which inspects filters of these kinds. It may change with each version.
 *
 * @module
 */
export { BfDriver } from '../redis/bf/bf-driver.js';
export { CfDriver } from '../redis/cf/cf-driver.js';
export { CfKeys } from '../redis/cf/cf-keys.js';
export { GenerationKeys } from '../redis/generation/generation-keys.js';
export {
  GENERATION_FORMAT,
  generationForm,
  type StoredGeneration,
} from '../redis/generation/generation-meta.js';
export type { GenerationSnapshot, ResolvedGeneration } from '../redis/generation/generation-snapshot.js';
export type { LayoutDriver } from '../redis/generation/layout-driver.js';
export { GrowingKeys, growingPermissions } from '../redis/growing/growing-keys.js';
export { GrowingReader } from '../redis/growing/growing-reader.js';
export { GROWING_LAYOUT, GrowingScripts } from '../redis/growing/growing-scripts.js';
export { resolveGrowing, type ResolvedGrowing } from '../redis/growing/resolved-growing.js';
