import { printed } from '../common/index.js';

// `layout` is the name of the function that was called: errors show what the user has written.

export const notOptions = (layout: string, known: readonly string[], got: unknown) =>
  `${layout}(): expected an object with the options ${known.join(', ')}, got ${printed(got)}.`;

export const noSuchOption = (layout: string, option: string, known: readonly string[]) =>
  `${layout}(): expected no option ${printed(option)}: it has the options ${known.join(', ')}. Leave it out, or correct its spelling.`;

export const wrongLayoutOption = (layout: string, option: string, expected: string, got: unknown) =>
  `${layout}(): expected ${option} to be ${expected}, got ${printed(got)}.`;
