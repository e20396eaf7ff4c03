import { BloomConfigError, printed } from '../common/index.js';
import { blocked, type FilterLayout, isFilterLayout } from '../filter/index.js';
import type { BloomFilterOptions } from './filter-options.js';
import { scalingIsALayout, notALayout } from './service.messages.js';

/** Where the function is that makes a layout, by the `kind` of the object that was written before 0.2. */
const MAKERS = new Map([
  ...[
    ['go-zero', 'goZero'],
    ['guava', 'guava'],
    ['redisson', 'redisson'],
    ['redisbloom', 'redisBloom'],
    ['cuckoo', 'cuckoo'],
  ].map(([kind, maker]) => [kind, { maker, entry: 'nestjs-bloom/interop' }] as const),
  ['scaling', { maker: 'scaling', entry: 'nestjs-bloom/scaling' }],
]);

/**
 * The layout that a filter was registered with.
 *
 * @throws {BloomConfigError} for what is no layout: how to write the one that was probably meant.
 */
export function chosenLayout({ name, layout, ...others }: BloomFilterOptions): FilterLayout {
  if ('scaling' in others && others.scaling !== undefined) {
    throw new BloomConfigError(scalingIsALayout(name, howToMake('scaling', others.scaling)));
  }
  if (layout === undefined || layout === 'blocked') return blocked;
  if (isFilterLayout(layout)) return layout;
  throw new BloomConfigError(notALayout(name, layout, advice(layout)));
}

function advice(layout: unknown): string {
  if (typeof layout === 'function') return `Call the function: layout: ${layout.name}({ … })`;
  if (typeof layout === 'string') return howToMake(layout);
  if (typeof layout !== 'object' || layout === null) return "Leave it out for 'blocked'.";
  const { kind, scaling, ...options } = layout as Record<string, unknown>;
  if (kind !== 'blocked') return howToMake(String(kind), options);
  return scaling === undefined ? 'Leave it out.' : howToMake('scaling', scaling);
}

/** The import and the call, with the options that were given if they are short enough to be shown whole. */
function howToMake(kind: string, options?: unknown): string {
  const found = MAKERS.get(kind);
  if (found === undefined) return "Leave it out for 'blocked'.";
  const text = options === undefined ? '…' : printed(options);
  const { maker, entry } = found;
  return `Write: import { ${maker} } from '${entry}'; and layout: ${maker}(${text.endsWith('…') ? '{ … }' : text})`;
}
