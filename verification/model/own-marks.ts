import { type Model, type Protocol, systemsOf } from './model.js';
import type { Numbers as Ids } from './two-parts.js';

/**
 * Coverage without Redis: each process has the filter in memory, reads the table by itself, and moves a mark
 * of its own. It hears of no other process. Ids are 1, 2, … in the order in which they are taken. A
 * transaction gets its number when it inserts its row, which may be later than others with greater ids.
 *
 * A step is one question to the database, or what one process does at once. Time is abstract. A row is old
 * when a whole overlap has passed since it was seen: by then each id before it that was taken has its row
 * inserted, or, where nothing is known of transactions, its row is visible or will never be. A candidate that
 * is held for adds becomes old when, besides, the rows are visible of all ids that were added by a look at
 * the table from before it was found. Another server takes over only if it has all rows that are old.
 */
const SAFETIES = {
  'overlap-at-all': 'the mark moves to a row that was seen a whole overlap before',
  'transactions-ended': 'the mark waits until the transactions have ended that had a number then',
  'number-when-old': 'these are the transactions of the moment at which the row is old',
  'next-number': 'they are all below the next number of the server, not below the last one that has ended',
  'ended-before-reading': 'the reading after which the mark moves begins when they have ended',
  'whole-reading': 'that reading begins at the old mark, and came to its end',
  'other-server': 'a row counts no more when another server answers after the reading than when it was seen',
  'compared-add': 'an id is added only if it comes after what any process may have found for its mark',
  'found-for-mark': 'that is the last row that any process may have found, and not the own mark',
  'held-for-adds': 'the mark waits for ids that were added by a look from before its row was found',
  'fresh-look': 'an add goes by a look that is younger than such a wait',
} as const;

type Safety = keyof typeof SAFETIES;

interface Size {
  readonly rows: number;
  readonly processes: number;
  /** Ids that processes add: those of new rows, and of rows with ids that nobody has used. */
  readonly adds: number;
  readonly failovers: number;
  readonly restarts: number;
  readonly failures: number;
  /** Whether the database tells which transactions are open. */
  readonly tells: boolean;
}

/** `written`: by a process, with an id of its own that was added. `gone`: it will never be visible. */
type Row = 'none' | 'taken' | 'inserted' | 'written' | 'visible' | 'gone';

interface Candidate {
  readonly row: number;
  /** Transactions below it have to end; 0 until the row is old. */
  readonly until: number;
  readonly server: number;
  /** Processes whose look at the table is from before it was found, as bits. */
  readonly looks: number;
  /** Ids that were added by such a look. */
  readonly adds: Ids;
}

interface Process {
  readonly at: 'idle' | 'asked' | 'read';
  /** Undefined before the first build. */
  readonly live: Ids | undefined;
  readonly mark: number;
  readonly candidate: Candidate | undefined;
  /** Where the mark moves after this reading; 0 for nowhere. */
  readonly settled: number;
  readonly ids: Ids;
  /** The last row that any process may have found; undefined before the first look. */
  readonly look: number | undefined;
}

interface State {
  readonly rows: readonly Row[];
  /** Number of the transaction that has inserted a row; 0 for none. */
  readonly numbers: readonly number[];
  readonly next: number;
  /** The last one that has ended, and one. */
  readonly bound: number;
  readonly server: number;
  /** What a standby has. */
  readonly standby: Ids;
  readonly processes: readonly Process[];
  /** Ids whose add was acknowledged, and whose row is on its way. */
  readonly added: Ids;
  readonly left: {
    readonly adds: number;
    readonly failovers: number;
    readonly restarts: number;
    readonly failures: number;
  };
}

type Take = (next: State, step: string) => void;

const BEGUN: Process = {
  at: 'idle',
  live: undefined,
  mark: 0,
  candidate: undefined,
  settled: 0,
  ids: 0,
  look: undefined,
};

const bit = (row: number): Ids => 1 << (row - 1);
const upTo = (row: number): Ids => bit(row + 1) - 1;

function buildModel(size: Size, without: Safety | undefined): Model<State> {
  const has = (safety: Safety) => safety !== without;
  const { adds, failovers, restarts, failures } = size;
  const initial: State = {
    rows: Array.from({ length: size.rows }, () => 'none' as const),
    numbers: Array.from({ length: size.rows }, () => 0),
    next: 1,
    bound: 1,
    server: 0,
    standby: 0,
    processes: Array.from({ length: size.processes }, () => BEGUN),
    added: 0,
    left: { adds, failovers, restarts, failures },
  };

  function steps(state: State, take: Take): void {
    state.rows.forEach((_, i) => stepsOfRow(state, i, take));
    stepsOfServer(state, take);
    state.processes.forEach((_, i) => stepsOfProcess(state, i, take));
  }

  function stepsOfRow(state: State, i: number, take: Take): void {
    const { rows, numbers, next, bound } = state;
    const row = i + 1;
    const become = (to: Row, step: string, others: Partial<State> = {}) =>
      take(resolved({ ...state, ...others, rows: rows.with(i, to) }), `${step} ${row}`);
    switch (rows[i]) {
      case 'none':
        if (rows.indexOf('none') === i) become('taken', 'a transaction takes id');
        return;
      case 'taken':
        become('inserted', 'a transaction inserts row', { numbers: numbers.with(i, next), next: next + 1 });
        become('gone', 'a transaction gives up id');
        return;
      case 'inserted': {
        const ended = { numbers: numbers.with(i, 0), bound: Math.max(bound, numbers[i]! + 1) };
        become('visible', 'a transaction commits row', ended);
        become('gone', 'a transaction gives up row', ended);
        return;
      }
      case 'written':
        become('visible', 'a process commits its row');
        become('gone', 'a process gives up its row');
    }
  }

  /** An id whose row has come, or never will, is on its way no more. */
  function resolved(state: State): State {
    const open = withState(state, ['taken', 'inserted', 'written']);
    return { ...state, added: state.added & open };
  }

  function stepsOfServer(state: State, take: Take): void {
    const { rows, standby, left, processes } = state;
    const visible = withState(state, ['visible']);
    if (left.failovers === 0) return;
    if (standby !== visible) take({ ...state, standby: visible }, 'the standby catches up');
    const last = 32 - Math.clz32(standby);
    // It has what was there a whole overlap ago.
    const old = Math.max(...processes.map(({ mark }) => mark));
    if ((visible & ~standby & upTo(old)) !== 0 || last < old) return;
    const kept = rows.map((_, i): Row => {
      if ((standby & bit(i + 1)) !== 0) return 'visible';
      return i + 1 < last ? 'gone' : 'none';
    });
    const after: State = {
      ...state,
      rows: kept,
      numbers: rows.map(() => 0),
      bound: state.next,
      server: state.server + 1,
      left: { ...left, failovers: left.failovers - 1 },
    };
    take(resolved(after), 'the standby takes over, and ids go on after its last row');
  }

  function stepsOfProcess(state: State, i: number, take: Take): void {
    const { left } = state;
    const one = state.processes[i]!;
    const become = (next: Process, step: string, others: Partial<State> = {}) =>
      take({ ...state, ...others, processes: state.processes.with(i, next) }, `process ${i + 1} ${step}`);
    if (left.restarts > 0 && one !== BEGUN)
      become(BEGUN, 'begins again', { left: { ...left, restarts: left.restarts - 1 } });
    stepsOfAdds(state, i, take);
    switch (one.at) {
      case 'idle':
        return ask(state, i, take);
      case 'asked': {
        const ids = withState(state, ['visible']) & ~(one.live === undefined ? 0 : upTo(one.mark));
        become({ ...one, at: 'read', ids }, 'reads what is new');
        if (left.failures === 0) return;
        const failed = { left: { ...left, failures: left.failures - 1 } };
        const cut = { ...one, at: 'read' as const, ids: ids & -ids };
        if (has('whole-reading'))
          become({ ...one, at: 'idle', candidate: undefined, settled: 0 }, 'fails to read', failed);
        else become(cut, 'reads a part of what is new', failed);
        return;
      }
      case 'read':
        return end(state, i, take);
    }
  }

  /** Looks which transactions are open, and whether the row that was found is settled. */
  function ask(state: State, i: number, take: Take): void {
    const one = state.processes[i]!;
    const found = one.candidate;
    const asked = (next: Process, others: readonly Process[]) =>
      take({ ...state, processes: others.with(i, { ...next, at: 'asked' }) }, `process ${i + 1} begins`);
    if (!found || !isOld(state, found))
      return asked({ ...one, candidate: found, settled: 0 }, state.processes);
    const until = found.until > 0 ? found.until : untilOf(state);
    const waits = has('transactions-ended') && has('ended-before-reading');
    const isWaiting = waits && isOpenBelow(state, { until });
    const kept = { ...one, candidate: { ...found, until }, settled: isWaiting ? 0 : found.row };
    asked(kept, has('fresh-look') ? withoutLooks(state, found.looks) : state.processes);
    // It may not be old yet.
    asked({ ...one, candidate: found, settled: 0 }, state.processes);
  }

  function isOld(state: State, { row, adds: pending }: Candidate): boolean {
    if (!has('overlap-at-all')) return true;
    const early: readonly Row[] = size.tells ? ['taken'] : ['taken', 'inserted'];
    const isLate = (withState(state, early) & upTo(row - 1)) !== 0;
    const isHeld = has('held-for-adds') && (pending & state.added) !== 0;
    return !isLate && !isHeld;
  }

  function untilOf({ next, bound }: State): number {
    return has('next-number') ? next : bound;
  }

  function isOpenBelow({ numbers }: State, { until }: Pick<Candidate, 'until'>): boolean {
    return size.tells && numbers.some((number) => number > 0 && number < until);
  }

  /** Longer has passed since these looks than one counts. */
  function withoutLooks({ processes }: State, looks: number): readonly Process[] {
    return processes.map((one, i) => ((looks & bit(i + 1)) === 0 ? one : { ...one, look: undefined }));
  }

  function end(state: State, i: number, take: Take): void {
    const one = state.processes[i]!;
    const { ids, live, candidate } = one;
    const isOther = candidate !== undefined && candidate.server !== state.server && has('other-server');
    const isOpen = !has('ended-before-reading') && candidate !== undefined && isOpenBelow(state, candidate);
    const settled = isOther || isOpen ? 0 : one.settled;
    // The first build goes live with rows up to one that was settled.
    const known = live === undefined ? (settled > 0 ? ids : undefined) : live | ids;
    const newest = 32 - Math.clz32(withState(state, ['visible']));
    const isFound = candidate === undefined || settled > 0 || isOther;
    const found = isFound && newest > Math.max(one.mark, settled) ? candidateOf(state, newest) : undefined;
    const look = has('found-for-mark') ? Math.max(newest, one.mark, settled) : Math.max(one.mark, settled);
    const next: Process = {
      ...BEGUN,
      live: known,
      mark: Math.max(one.mark, settled),
      candidate: isFound ? found : candidate,
      look,
    };
    const seen = state.processes.map((other) =>
      other.candidate ? { ...other, candidate: lookedAfter(other.candidate, i) } : other,
    );
    const own = next.candidate ? { ...next, candidate: lookedAfter(next.candidate, i) } : next;
    const step = settled > one.mark ? `moves its mark to ${settled}` : 'has read';
    take({ ...state, processes: seen.with(i, own) }, `process ${i + 1} ${step}`);
  }

  function candidateOf(state: State, row: number): Candidate {
    const looks = state.processes.reduce(
      (bits, { look }, i) => (look === undefined ? bits : bits | bit(i + 1)),
      0,
    );
    const until = has('number-when-old') ? 0 : untilOf(state);
    return { row, until, server: state.server, looks, adds: state.added };
  }

  function lookedAfter(candidate: Candidate, i: number): Candidate {
    return { ...candidate, looks: candidate.looks & ~bit(i + 1) };
  }

  function stepsOfAdds(state: State, i: number, take: Take): void {
    const { left, rows, added, processes } = state;
    const one = processes[i]!;
    if (left.adds === 0 || one.live === undefined || one.look === undefined) return;
    for (let row = 1; row <= size.rows; row++) {
      const is = rows[row - 1]!;
      if (!['taken', 'inserted', 'gone'].includes(is) || (added & bit(row)) !== 0) continue;
      if (row <= one.look && has('compared-add')) continue;
      const known = processes.map((other) =>
        other.candidate && (other.candidate.looks & bit(i + 1)) !== 0
          ? { ...other, candidate: { ...other.candidate, adds: other.candidate.adds | bit(row) } }
          : other,
      );
      const adding = known[i]!;
      const after: State = {
        ...state,
        rows: is === 'gone' ? rows.with(row - 1, 'written') : rows,
        added: added | bit(row),
        processes: known.with(i, { ...adding, live: adding.live! | bit(row) }),
        left: { ...left, adds: left.adds - 1 },
      };
      const what = is === 'gone' ? 'an id that nobody has used' : 'the id of a new row';
      take(after, `process ${i + 1} adds ${what}, ${row}`);
    }
  }

  function withState({ rows }: State, wanted: readonly Row[]): Ids {
    return rows.reduce((ids, row, i) => (wanted.includes(row) ? ids | bit(i + 1) : ids), 0);
  }

  function violation(state: State): string | undefined {
    const expected = withState(state, ['visible']) | state.added;
    const isDenied = state.processes.some(
      ({ live, mark }) => live !== undefined && (expected & ~live & upTo(mark)) !== 0,
    );
    return isDenied ? 'a process answers "absent" for a row, or for an id that was added' : undefined;
  }

  return { initial, steps, violation, key: keyOf };
}

const ROW: Readonly<Record<Row, string>> = {
  none: 'n',
  taken: 't',
  inserted: 'i',
  written: 'w',
  visible: 'v',
  gone: 'g',
};

/** Numbers of transactions count from the first one that is open, or that somebody waits for. */
function keyOf({ rows, numbers, next, bound, server, standby, processes, added, left }: State): string {
  const waited = processes.map(({ candidate }) => candidate?.until ?? 0);
  const known = [...new Set([...numbers, ...waited, next, bound])].filter((number) => number > 0);
  const rank = new Map(known.sort((one, other) => one - other).map((number, i) => [number, i + 1]));
  const of = (number: number) => rank.get(number) ?? 0;
  const each = processes.map(({ at, live, mark, candidate: c, settled, ids, look }) => {
    const found = c && [c.row, of(c.until), server - c.server, c.looks, c.adds];
    return [at[0], live ?? '-', mark, found?.join('.') ?? '', settled, ids, look ?? '-'].join(',');
  });
  return [
    rows.map((row, i) => `${ROW[row]}${of(numbers[i]!)}`).join(''),
    of(next),
    of(bound),
    standby,
    added,
    Object.values(left).join(),
    ...each,
  ].join(';');
}

const system = systemsOf(buildModel);

const ONE: Size = { rows: 3, processes: 1, adds: 0, failovers: 0, restarts: 0, failures: 0, tells: true };

export const ownMarks: Protocol<Safety> = {
  name: 'own-marks',
  safeties: SAFETIES,
  systems: [
    system(
      'three rows of a database that tells its transactions, a process, a reading that fails',
      {
        ...ONE,
        failures: 1,
      },
      {
        shows: [
          'overlap-at-all',
          'transactions-ended',
          'number-when-old',
          'next-number',
          'ended-before-reading',
          'whole-reading',
        ],
      },
    ),
    system('three rows of a database that does not, a process that begins again', {
      ...ONE,
      tells: false,
      restarts: 1,
    }),
    system(
      'three rows, a process, a standby that takes over',
      { ...ONE, failovers: 1 },
      { shows: ['other-server'] },
    ),
    system(
      'three rows, two processes, an id that one of them adds',
      { ...ONE, processes: 2, adds: 1 },
      {
        shows: ['compared-add', 'found-for-mark', 'held-for-adds', 'fresh-look'],
      },
    ),
  ],
};
