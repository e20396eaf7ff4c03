import { type Model, type Protocol, systemsOf } from './model.js';

/**
 * Lookups of ids far beyond the mark, all of which ask the database for its newest row together. Rows are
 * 1, 2, … in the order of their ids, which are written in any order. A transaction has its number from its
 * insert on. A step is one question to the database, or what it does at once. A server that takes over lacks
 * the open transactions and any rows, and may give numbers out again.
 */
const SAFETIES = {
  'asked-after': 'an answer counts only for lookups from before the first look at open transactions',
  'transactions-ended': 'a lookup waits until the transactions have ended that had a number by that look',
  'next-number': 'these are below the next number of the server, not below the last one that has ended',
  'newest-after-look': 'the newest row is asked for after the look that shows that they have ended',
} as const;

type Safety = keyof typeof SAFETIES;

interface Row {
  readonly at: 'none' | 'open' | 'visible' | 'gone';
  /** Number of its transaction; 0 for none. */
  readonly number: number;
}

interface Lookup {
  readonly row: number;
  /** The row was visible when it began, or open: it may be of the transaction that writes it. */
  readonly wasWritten: boolean;
  /** What the first look told; 0 before it. */
  readonly until: number;
  /** It was there when this round began. */
  readonly isAsking: boolean;
}

interface State {
  readonly rows: readonly Row[];
  readonly next: number;
  /** The last number that has ended, and one. */
  readonly bound: number;
  readonly lookups: readonly Lookup[];
  /** What the first question of a round has told; undefined between rounds. */
  readonly told: { readonly oldest: number } | { readonly newest: number } | undefined;
  readonly left: { readonly lookups: number; readonly failovers: number };
  readonly wrong: string | undefined;
}

interface Size {
  readonly rows: number;
  readonly lookups: number;
  readonly failovers: number;
}

type Take = (next: State, step: string) => void;

function buildModel({ rows, lookups, failovers }: Size, without: Safety | undefined): Model<State> {
  const has = (safety: Safety) => safety !== without;

  function stepsOfRows(state: State, take: Take): void {
    const { next, bound } = state;
    state.rows.forEach(({ at, number }, i) => {
      const become = (row: Row, step: string, others: Partial<State> = {}) =>
        take({ ...state, ...others, rows: state.rows.with(i, row) }, `a transaction ${step} row ${i + 1}`);
      const ended = { bound: Math.max(bound, number + 1) };
      if (at === 'none') become({ at: 'open', number: next }, 'inserts', { next: next + 1 });
      if (at !== 'open') return;
      become({ at: 'visible', number }, 'commits', ended);
      become({ at: 'gone', number }, 'rolls back', ended);
    });
  }

  function stepsOfServer(state: State, take: Take): void {
    const { left } = state;
    if (left.failovers === 0) return;
    for (let kept = 0; kept < 1 << rows; kept++) {
      const survive = state.rows.map(({ at, number }, i): Row => {
        const isKept = at === 'visible' && (kept & (1 << i)) !== 0;
        return at === 'none' || isKept ? { at, number } : { at: 'gone', number: 0 };
      });
      const next = 1 + Math.max(0, ...survive.map(({ number }) => number));
      const others = { next, bound: next, left: { ...left, failovers: left.failovers - 1 } };
      take({ ...state, ...others, rows: survive }, 'another server takes over');
    }
  }

  function stepsOfLookups(state: State, take: Take): void {
    const { left } = state;
    if (left.lookups === 0) return;
    state.rows.forEach(({ at }, row) => {
      const lookup: Lookup = {
        row,
        wasWritten: at === 'open' || at === 'visible',
        until: 0,
        isAsking: false,
      };
      const others = { left: { ...left, lookups: left.lookups - 1 } };
      take({ ...state, ...others, lookups: [...state.lookups, lookup] }, `a lookup of row ${row + 1} begins`);
    });
  }

  const begun = (state: State) => state.lookups.map((one) => ({ ...one, isAsking: true }));

  function looked(state: State): State {
    const { next, bound } = state;
    const until = has('next-number') ? next : bound;
    return {
      ...state,
      lookups: state.lookups.map((one) => (one.isAsking && one.until === 0 ? { ...one, until } : one)),
    };
  }

  const oldestOf = ({ rows: all, bound }: State) =>
    Math.min(bound, ...all.filter(({ at }) => at === 'open').map(({ number }) => number));
  const newestOf = ({ rows: all }: State) => all.findLastIndex(({ at }) => at === 'visible');

  function settled(state: State, oldest: number, newest: number): State {
    let { wrong } = state;
    const lookups = state.lookups.filter(({ row, wasWritten, until, isAsking }) => {
      if (!isAsking && has('asked-after')) return true;
      if (row <= newest) return false;
      if (has('transactions-ended') && oldest < until) return true;
      const { at } = state.rows[row]!;
      if (wasWritten && at !== 'gone') wrong = `Row ${row + 1} was written before it was answered "absent".`;
      return false;
    });
    return { ...state, lookups: lookups.map((one) => ({ ...one, isAsking: false })), told: undefined, wrong };
  }

  function stepsOfQuestion(state: State, take: Take): void {
    const { told } = state;
    if (!told && state.lookups.length === 0) return;
    const round = told ? state : { ...state, lookups: begun(state) };
    if (has('newest-after-look')) {
      if (!told)
        take({ ...looked(round), told: { oldest: oldestOf(state) } }, 'open transactions are looked at');
      else if ('oldest' in told) take(settled(state, told.oldest, newestOf(state)), 'the newest row is read');
      return;
    }
    if (!told) take({ ...round, told: { newest: newestOf(state) } }, 'the newest row is read');
    else if ('newest' in told)
      take(settled(looked(state), oldestOf(state), told.newest), 'open transactions are looked at');
  }

  return {
    initial: {
      rows: Array.from({ length: rows }, () => ({ at: 'none', number: 0 }) as const),
      next: 1,
      bound: 1,
      lookups: [],
      told: undefined,
      left: { lookups, failovers },
      wrong: undefined,
    },
    steps(state, take) {
      stepsOfRows(state, take);
      stepsOfServer(state, take);
      stepsOfLookups(state, take);
      stepsOfQuestion(state, take);
    },
    violation: ({ wrong }) => wrong,
    key: ({ lookups: all, ...state }) =>
      JSON.stringify([state, all.map((one) => JSON.stringify(one)).toSorted()]),
  };
}

const system = systemsOf(buildModel);

export const newestQuestion: Protocol<Safety> = {
  name: 'newest-question',
  safeties: SAFETIES,
  systems: [
    system(
      'two rows, two lookups, a failover',
      { rows: 2, lookups: 2, failovers: 1 },
      { shows: ['asked-after', 'transactions-ended', 'next-number', 'newest-after-look'] },
    ),
    system('three rows, three lookups, a failover', { rows: 3, lookups: 3, failovers: 1 }, { isLarge: true }),
  ],
};
