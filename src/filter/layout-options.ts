import { BloomConfigError, printed } from '../common/index.js';
import type { StoredLayout } from './stored-layout.js';

type Option = 'foreignAdds' | 'adopt' | 'resize' | 'scaling';

const KINDS_WITH: Readonly<Record<Option, readonly StoredLayout['kind'][]>> = {
  foreignAdds: ['go-zero', 'guava', 'redisson', 'spring'],
  adopt: ['go-zero', 'guava', 'redisbloom', 'redisson', 'spring'],
  resize: ['redisson'],
  scaling: ['blocked'],
};

/**
 * Refuses what would have no effect: an option of another layout, and one of rebuilds for a filter that is never rebuilt.
 *
 * @throws {BloomConfigError}
 */
export function checkLayoutOptions(layout: StoredLayout, { hasSource }: { hasSource: boolean }): void {
  const given = layout as Partial<Record<Option, unknown>>;
  for (const option of Object.keys(KINDS_WITH) as Option[]) {
    const kinds = KINDS_WITH[option];
    if (given[option] === undefined || kinds.includes(layout.kind)) continue;
    throw new BloomConfigError(
      `Expected no layout.${option} with the layout '${layout.kind}', got ${printed(given[option])}: only ${kinds.join(', ')} ` +
        `${kinds.length === 1 ? 'has' : 'have'} it. Leave it out.`,
    );
  }
  const { foreignAdds = 'keep', resize = false, adopt = 'first-sight' } = given;
  if (hasSource && adopt !== 'first-sight') {
    throw new BloomConfigError(
      `Expected no layout.adopt with a source, got ${printed(adopt)}: the filter is made by its first rebuild, and never taken as it is. ` +
        'Leave out one of them.',
    );
  }
  if (hasSource) return;
  for (const [option, value, usual] of [
    ['foreignAdds', foreignAdds, 'keep'],
    ['resize', resize, false],
  ] as const) {
    if (value === usual) continue;
    throw new BloomConfigError(
      `Expected no layout.${option} without a source, got ${printed(value)}: it says what a rebuild does, and the filter has none. ` +
        'Give it a source, or leave it out.',
    );
  }
}
