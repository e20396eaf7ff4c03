import { printed } from '../../../common/index.js';

export const noAdoptWithSource = (layout: string, adopt: unknown) =>
  `${layout}(): expected no adopt with a source, got ${printed(adopt)}: the filter is made by its first rebuild, and never taken as it is. ` +
  'Leave out one of them.';

export const noAdoptWithoutKey = (layout: string, adopt: unknown) =>
  `${layout}(): expected no adopt without a key, got ${printed(adopt)}: the filter has a key of its own, which nobody else fills. ` +
  'Name the key of the other systems, or leave it out.';

export const hasNoRebuild = (layout: string, option: string, got: unknown) =>
  `${layout}(): expected no ${option} without a source, got ${printed(got)}: it says what a rebuild does, and the filter has none. ` +
  'Give it a source, or leave it out.';

export const noExpansion = (layout: string) =>
  `${layout}(): expected expansion to be at least 1, got 0. Set nonScaling: true for a filter that does not grow.`;
