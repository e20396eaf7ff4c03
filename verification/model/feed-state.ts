import type { Numbers as Rows } from './two-parts.js';

export const NOBODY = -1;
export const NO_PLACE = -1;

/** A process that may follow. Places are numbers of commits: the log before place 2 has two of them. */
export interface Follower {
  readonly at: 'idle' | 'asked' | 'created' | 'ready' | 'reading';
  /** The noted place, its line and its table, as it has heard when it began. */
  readonly position: number;
  readonly line: number;
  readonly noted: number;
  /** The table as it has read it last. */
  readonly table: number;
  /** Where it has found its slot, and the line of that server. */
  readonly from: number;
  readonly lineHere: number;
  /** Received and not handled: the rows, and up to where. */
  readonly queue: Rows;
  readonly received: number;
  /** Handled and not added: the rows, and up to where. */
  readonly waiting: Rows;
  readonly read: number;
  /** Up to where all was added and noted. */
  readonly saved: number;
  readonly gap: 'none' | 'wanted' | 'running';
}

/** The rebuild that runs. */
export interface Run {
  readonly at: 'begun' | 'staged' | 'scanned';
  /** The process that fills a gap by it, or nobody. */
  readonly by: number;
  readonly parts: number;
  /** Commits of the moment at which its staging was published. */
  readonly seen: number;
  /** Whether a row was on its way at that moment that came past the log. */
  readonly sawArrival: boolean;
}

export interface Slot {
  /** Where it was created. */
  readonly first: number;
  /** Postgres may forget what lies before. */
  readonly confirmed: number;
  readonly reader: number;
}

export interface State {
  /** Rows in the order of their commits. */
  readonly log: readonly number[];
  /** Rows that are committed, and that others see: a commit is in the log a moment before. */
  readonly visible: Rows;
  /** Grows when a standby takes over. */
  readonly line: number;
  /**
   * Grows when the table is another one, or its publication: a row may come by that which is not in the log.
   */
  readonly table: number;
  readonly slot: Slot | undefined;
  readonly position: number;
  readonly positionLine: number;
  readonly positionTable: number;
  readonly holder: number;
  readonly live: Rows;
  /** Bits of the parts that are lost, or were never built. */
  readonly lost: number;
  readonly staging: Rows | undefined;
  readonly run: Run | undefined;
  readonly followers: readonly Follower[];
  readonly left: {
    readonly builds: number;
    readonly losses: number;
    /** What persons do to the slot. */
    readonly hands: number;
    /** Processes that die, connections that are cut, adds that fail. */
    readonly deaths: number;
    readonly failovers: number;
    /** Changes of the table. */
    readonly changes: number;
  };
}

export const IDLE: Follower = {
  at: 'idle',
  position: NO_PLACE,
  line: 0,
  noted: 0,
  table: 0,
  from: 0,
  lineHere: 0,
  queue: 0,
  received: 0,
  waiting: 0,
  read: 0,
  saved: 0,
  gap: 'none',
};

/** Rows of the first commits. */
export function committed(log: readonly number[], until = log.length): Rows {
  let rows = 0;
  for (let i = 0; i < until; i++) rows |= 1 << (log[i]! - 1);
  return rows;
}

const FOLLOWER_AT = { idle: 0, asked: 1, created: 2, ready: 3, reading: 4 };
const GAP = { none: 0, wanted: 1, running: 2 };
const RUN_AT = { begun: 1, staged: 2, scanned: 3 };

/** Filled anew for each state: a list that is spread into a call costs more than all else. */
const codes: number[] = [];

/** Processes of which none can be told from another come in a fixed order. */
export function keyOf(state: State): string {
  const { slot, run, left, followers } = state;
  codes.length = 0;
  let log = 1;
  for (const row of state.log) log = 5 * log + row;
  codes.push(
    log,
    state.visible + 16 * state.live + 256 * state.lost + 1024 * state.line + 4096 * state.table,
    slot ? 1 + slot.first + 8 * slot.confirmed : 0,
    state.position + 1 + 8 * state.positionLine + 64 * (state.staging === undefined ? 0 : 1 + state.staging),
    run
      ? RUN_AT[run.at] +
          4 * run.parts +
          16 * run.seen +
          128 * Number(run.by === NOBODY) +
          256 * Number(run.sawArrival)
      : 0,
    left.builds + 8 * left.losses + 64 * left.hands + 512 * left.deaths + 4096 * left.failovers,
    left.changes + 2 * state.positionTable,
  );
  const text = String.fromCharCode.apply(undefined, codes);
  const keys = followers.map((one, i) => {
    const isHolder = Number(state.holder === i);
    const isReader = Number(slot?.reader === i);
    return String.fromCharCode(
      FOLLOWER_AT[one.at] + 8 * GAP[one.gap] + 32 * isHolder + 64 * isReader + 128 * Number(run?.by === i),
      one.position + 1 + 8 * one.line + 16 * one.from + 128 * one.lineHere + 256 * one.queue,
      one.received +
        8 * one.read +
        64 * (one.saved + 1) +
        512 * one.waiting +
        4096 * one.noted +
        8192 * one.table,
    );
  });
  return text + (keys.length === 1 ? keys[0]! : keys.sort().join(''));
}
