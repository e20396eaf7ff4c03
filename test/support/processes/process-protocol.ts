import type { LayoutRecipe } from '../../../packages/interop/test/support/layout-recipe.js';

export interface ProcessOptions {
  readonly redisUrl: string;
  readonly filter: string;
  readonly label: string;
  readonly layout: LayoutRecipe;
  readonly plan: { readonly capacity: number; readonly errorRate: number; readonly maxIdBytes: number };
  readonly hasSource: boolean;
  /** Between two rebuilds of this process; none when it never rebuilds. */
  readonly rebuildsEveryMs: number | undefined;
  /** Whether it removes some of the ids that it has added. */
  readonly removes: boolean;
  /** Longest time from the end of a row to the removal of its id. */
  readonly drainMs: number;
}

/** What a process asks of the table; each gets an answer of the same number. */
export type Question =
  /** A row is made, before its id is added. */
  | { readonly type: 'make'; readonly id: string }
  /** The id was added: from now on everybody looks it up. */
  | { readonly type: 'added'; readonly id: string }
  /** The row is gone, and nobody looks the id up any more. */
  | { readonly type: 'end'; readonly id: string }
  | { readonly type: 'rows' };

export interface Tally {
  readonly wrong: readonly string[];
  readonly lookUps: number;
  readonly absents: number;
  readonly adds: number;
  readonly refusedAdds: number;
  readonly removals: number;
  readonly rebuilds: number;
}

/** What a process has done so far; of these a test needs enough. */
export type Counts = Pick<Tally, 'lookUps' | 'absents' | 'adds' | 'removals' | 'rebuilds'>;

export type FromProcess =
  | { readonly type: 'ready' }
  | { readonly type: 'counts'; readonly counts: Counts }
  | { readonly type: 'asks'; readonly number: number; readonly question: Question }
  | { readonly type: 'forgot'; readonly id: string }
  | { readonly type: 'ended'; readonly tally: Tally };

export type ToProcess =
  | { readonly type: 'start' }
  | { readonly type: 'answer'; readonly number: number; readonly rows: readonly string[] }
  | { readonly type: 'learn'; readonly id: string }
  | { readonly type: 'forget'; readonly id: string }
  | { readonly type: 'stop' };
