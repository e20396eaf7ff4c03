import type { Safety } from '../../test/support/broken-lua.js';
import type { FilterKindName } from './filter-kinds.js';

/** Where a rebuild can be stopped: before the command of this name is sent, or within the phase. */
export const STEPS = [
  'lease',
  'stage',
  'publish',
  'drain',
  'scan',
  'load',
  'merge',
  'verify',
  'swap',
  'swap, its reply unread',
  'clean-up',
  'release',
] as const;
/** `announced`: readers copy the staging, and the rebuild asks for the first time whether they have. */
export type Step = (typeof STEPS)[number] | 'announced';

/** What a rebuilder is started with. */
export interface RebuilderOptions {
  readonly redisUrl: string;
  readonly capacity: number;
  readonly kind: FilterKindName;
  readonly without: Safety | undefined;
  readonly stop: {
    readonly at: Step;
    /** `wait`: goes on only when its source is told to stop. */
    readonly how: 'SIGKILL' | 'SIGSTOP' | 'wait';
  };
}

export type FromRebuilder =
  | { readonly type: 'ready' }
  | { readonly type: 'stopping' }
  /** Asks for the rows that are visible now. */
  | { readonly type: 'read' }
  /** `published`, `skipped`, or the reason of a failure. */
  | { readonly type: 'ended'; readonly how: string };

export type ToRebuilder =
  { readonly type: 'rebuild' } | { readonly type: 'rows'; readonly ids: readonly string[] };
