import { metadataPermissions, type Permission, segmentPermissions } from 'nestjs-bloom/internal';
import type { GrowingKeys } from './growing-keys.js';

/** What the scripts of a filter that grows need, on metadata and on the segments of its layers. */
export function growingPermissions(keys: GrowingKeys): Permission[] {
  const { probe } = keys;
  return [...metadataPermissions(probe), ...segmentPermissions(probe, keys.segment('probe', 0))];
}
