import { printed } from '../../../common/index.js';

// What is expected of an option, as the end of "expected … to be".
export const PEERS_KEY = 'the Redis key that the other systems use';
export const KEY_NAME = 'the name of a key';
export const ADOPT = "'first-sight' or 'explicit'";
export const FOREIGN_ADDS = "'keep' or 'none'";
export const TRUE_OR_FALSE = 'true or false';
export const sharedBits = (min: number, max: number) =>
  `the number of bits that every side uses, from ${min} to ${max}`;
export const funnelName = (names: readonly unknown[]) =>
  `one of ${names.join(', ')}, or a function that puts the pieces of an id`;
export const oneOf = (names: readonly unknown[]) => `one of ${names.join(', ')}`;

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
