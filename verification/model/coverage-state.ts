import type { Numbers as Ids } from './two-parts.js';

/** `visible` also for a row that was written far ahead, with an id that was not taken. */
export type Row = 'none' | 'taken' | 'visible' | 'given up';

/** Marks are numbers of rows; 0 is before the first row. */
export const NO_MARK = -1;
export const NOBODY = -1;

/** A gap that a rebuild has found empty, and the newest row of that moment. */
export interface EmptyGap {
  readonly ids: Ids;
  readonly newest: number;
}

export interface Follower {
  readonly at: 'idle' | 'asked' | 'read' | 'added' | 'back';
  /** As it believes it to be. */
  readonly mark: number;
  /** A row that a reading has found to be the last one that a mark may move to; 0 for none. */
  readonly candidate: number;
  /**
   * What the mark does not cover when it moves to the candidate, and to where it moves after this reading.
   */
  readonly gap: Ids;
  readonly settledGap: Ids;
  /**
   * Where the mark moves after this reading; 0 for nowhere. Where the mark was found beyond the newest row:
   * that row, or `NO_MARK`.
   */
  readonly settled: number;
  readonly ids: Ids;
  /** What its last reading has added. */
  readonly seen: Ids;
}

export interface Builder {
  readonly at: 'start' | 'noted' | 'staged' | 'scanned' | 'live';
  readonly newest: number;
  /** What its mark does not cover. */
  readonly gap: Ids;
  /** Gaps of the mark that it has found empty. */
  readonly empty: readonly EmptyGap[];
  /** The mark when it began. */
  readonly before: number;
  readonly setsMark: boolean;
  /** Bits of the parts that it rebuilds. */
  readonly parts: number;
  /** Whether it has looked for rows up to the mark that are missing, and found none. */
  readonly foundNone: boolean;
}

export interface State {
  readonly rows: readonly Row[];
  readonly live: Ids;
  /** Bits of the parts that are lost. */
  readonly lost: number;
  /** Undefined where none is published. */
  readonly staging: { readonly parts: number; readonly ids: Ids } | undefined;
  readonly mark: number;
  /** Ids before the mark that it does not cover. */
  readonly gap: Ids;
  /** Those that a rebuild has noted to be empty. */
  readonly empty: readonly EmptyGap[];
  /** Whether a rebuild has found rows missing up to a mark, and none since has found that there is none. */
  readonly doubt: boolean;
  readonly holder: number;
  readonly followers: readonly Follower[];
  readonly builders: readonly Builder[];
  /** The mark that the process which answers has heard of last. */
  readonly heard: number;
  readonly heardGap: Ids;
  readonly heardDoubt: boolean;
  /** A lookup on its way: what it counts with. */
  readonly lookup: { readonly covered: Ids; readonly denied: Ids } | undefined;
  /**
   * Since the ids began again the promise holds no sooner than a reading has noticed it, and the process that
   * answers has heard that.
   */
  readonly again: 'never' | 'unnoticed' | 'unheard';
  /**
   * There were more rows far ahead than a mark stays behind, or so many were added beyond a gap that a
   * rebuild had found empty: the promise holds only while the process that answers has heard of the doubt.
   */
  readonly isBroken: boolean;
  readonly left: {
    readonly builds: number;
    readonly losses: number;
    readonly deaths: number;
    readonly restarts: number;
    readonly far: number;
  };
}

export const IDLE: Follower = {
  at: 'idle',
  mark: NO_MARK,
  candidate: 0,
  gap: 0,
  settledGap: 0,
  settled: 0,
  ids: 0,
  seen: 0,
};
export const NO_BUILD: Builder = {
  at: 'start',
  newest: 0,
  gap: 0,
  empty: [],
  before: NO_MARK,
  setsMark: false,
  parts: 0,
  foundNone: false,
};

/**
 * Whether all rows before it whose ids were taken are visible, or never will be. An id before a row that is
 * far ahead may be taken later.
 */
export function isSettled(rows: readonly Row[], id: number): boolean {
  return rows.every((row, i) => i + 1 >= id || row !== 'taken');
}

/** Rows beyond an id that are visible before an id that comes before them was taken. */
export function farAhead(rows: readonly Row[], beyond = 0): number {
  const next = rows.indexOf('none');
  return next < 0 ? 0 : rows.filter((row, i) => i >= Math.max(beyond, next) && row === 'visible').length;
}

/** Whether an id of these is yet to be taken. */
export function hasOpen(rows: readonly Row[], ids: Ids): boolean {
  return rows.some((row, i) => row === 'none' && (ids & (1 << i)) !== 0);
}

export function visible(rows: readonly Row[]): Ids {
  return rows.reduce((ids, row, i) => (row === 'visible' ? ids | (1 << i) : ids), 0);
}

/** All ids after a mark. */
export function after(mark: number): Ids {
  return mark <= 0 ? -1 : -1 << mark;
}

/** The last of the ids that so many others come after; 0 for none. */
export function highest(ids: Ids, others = 0): number {
  const last = 32 - Math.clz32(ids);
  return others === 0 || last === 0 ? last : highest(ids & ~(1 << (last - 1)), others - 1);
}

/** Gaps that are not covered. */
const GAPS = 2;

/** The ids in the largest gaps before these ids that come after a mark, up to the last one that counts. */
export function gapsIn(ids: Ids, from: number, last: number): Ids {
  const upTo = last === 0 ? 0 : ~after(last);
  return largestGaps(upTo & after(from) & ~ids);
}

/** Those of the largest runs of these ids. */
export function largestGaps(ids: Ids): Ids {
  return runsOf(ids)
    .sort((one, other) => sizeOf(other) - sizeOf(one))
    .slice(0, GAPS)
    .reduce((all, run) => all | run, 0);
}

/** Each run of ids that follow one another. */
export function runsOf(ids: Ids): Ids[] {
  const runs: Ids[] = [];
  for (let rest = ids; rest !== 0; rest &= ~runs.at(-1)!) {
    let run = rest & -rest;
    while ((run << 1) & rest & ~run) run |= (run << 1) & rest;
    runs.push(run);
  }
  return runs;
}

function sizeOf(ids: Ids): number {
  return ids === 0 ? 0 : 1 + sizeOf(ids & (ids - 1));
}

const ROW = { none: 0, taken: 1, visible: 2, 'given up': 3 };
const FOLLOWER_AT = { idle: 0, asked: 1, read: 2, added: 3, back: 4 };
const AGAIN = { never: 0, unnoticed: 1, unheard: 2 };
const BUILDER_AT = { start: 0, noted: 1, staged: 2, scanned: 3, live: 4 };

/** One for each gap that is kept. */
function codesOf(empty: readonly EmptyGap[]): number[] {
  return Array.from({ length: GAPS }, (_, i) => {
    const { ids, newest } = empty[i] ?? { ids: 0, newest: 0 };
    return ids + 64 * newest;
  });
}

export function keyOf(state: State): string {
  const { staging, lookup, left, holder } = state;
  const followers = state.followers.map(({ at, mark, candidate, settled, ids, seen, gap, settledGap }, i) =>
    String.fromCharCode(
      FOLLOWER_AT[at] + 8 * (mark + 1) + 64 * candidate + 512 * (settled + 1),
      ids + 64 * seen + (holder === i ? 4096 : 0),
      gap + 64 * settledGap,
    ),
  );
  const builders = state.builders.map(({ at, newest, before, setsMark, parts, foundNone, gap, empty }) =>
    String.fromCharCode(
      BUILDER_AT[at] + 8 * newest + 64 * (before + 1) + 512 * Number(setsMark) + 1024 * Number(foundNone),
      parts + 8 * gap,
      ...codesOf(empty),
    ),
  );
  return (
    String.fromCharCode(
      state.rows.reduce((code, row) => 4 * code + ROW[row], 0),
      state.live + 64 * state.lost + 512 * (state.mark + 1) + 4096 * (state.heard + 1),
      staging ? 1 + staging.parts + 8 * staging.ids : 0,
      lookup ? 1 + lookup.covered + 64 * lookup.denied : 0,
      left.builds + 8 * left.losses + 64 * left.deaths + 512 * left.restarts + 4096 * AGAIN[state.again],
      state.gap + 64 * state.heardGap,
      left.far + 8 * Number(state.doubt) + 16 * Number(state.heardDoubt) + 32 * Number(state.isBroken),
      ...codesOf(state.empty),
    ) +
    followers.sort().join('') +
    builders.sort().join('')
  );
}
