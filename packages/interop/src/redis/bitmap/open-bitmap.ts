import type { Adopt, ForeignAdds } from '../../formats/key-options.js';
import { DrivenFilter } from '../generation/driven-filter.js';
import { GenerationKeys } from '../generation/generation-keys.js';
import type { RedisContext } from 'nestjs-bloom/internal';
import type { BitmapFormat } from './bitmap-format.js';
import { BitmapDriver } from './bitmap-driver.js';
import { BitmapScripts } from './bitmap-scripts.js';
import type { ResolvedBitmap } from './resolved-bitmap.js';

export interface BitmapFilterOptions {
  readonly format: BitmapFormat;
  readonly foreignAdds?: ForeignAdds | undefined;
  readonly adopt?: Adopt | undefined;
}

/**
 * A filter on the very key that its peers use.
 *
 * @throws {BloomConfigError} for a key that no other key can share a hash slot with.
 */
export function openBitmap(
  context: RedisContext,
  { format, foreignAdds = 'keep', adopt }: BitmapFilterOptions,
): DrivenFilter<ResolvedBitmap> {
  const { plan, name, emit, connection } = context;
  const keys = new GenerationKeys(format.key);
  const scripts = new BitmapScripts(connection, keys, format.settingsKey);
  const driver = new BitmapDriver({ name, emit, format, scripts, plan, foreignAdds }, keys);
  return new DrivenFilter({ ...context, keys, driver, waitsForAdopt: adopt === 'explicit' });
}
