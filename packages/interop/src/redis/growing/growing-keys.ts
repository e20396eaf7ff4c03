import { metadataPermissions, type Permission, RedisKeys, segmentPermissions } from 'nestjs-bloom/internal';
import { GenerationKeys } from '../generation/generation-keys.js';

/**
 * Names of the keys of a filter that grows. The metadata and the lease are where a filter of one generation
 * has them: a process that takes it for one finds another format, and leaves it alone.
 */
export class GrowingKeys extends GenerationKeys {
  override readonly meta: string;
  override readonly lease: string;
  override readonly builds: string;
  override readonly probe: string;

  constructor(keyPrefix: string, filter: string) {
    super(`${keyPrefix}:{${filter}}:layer`);
    const { meta, lease, builds, probe } = new RedisKeys(keyPrefix, filter);
    this.meta = meta;
    this.lease = lease;
    this.builds = builds;
    this.probe = probe;
  }

  /** @param layer its random name, which no other layer ever has */
  segment(layer: string, index: number): string {
    return `${this.data}:${layer}:${index}`;
  }
}

/** What the scripts of a filter that grows need, on metadata and on the segments of its layers. */
export function growingPermissions(keys: GrowingKeys): Permission[] {
  const { probe } = keys;
  return [...metadataPermissions(probe), ...segmentPermissions(probe, keys.segment('probe', 0))];
}
