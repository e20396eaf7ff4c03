import {
  after,
  type EmptyGap,
  farAhead,
  gapsIn,
  type Follower,
  type Builder,
  hasOpen,
  highest,
  largestGaps,
  IDLE,
  isSettled,
  keyOf,
  NO_BUILD,
  NO_MARK,
  NOBODY,
  type Row,
  runsOf,
  type State,
  visible,
} from './coverage-state.js';
import { type Model, type Protocol, systemsOf } from './model.js';
import { ALL_PARTS, nameOfParts, numbersOf, type Numbers as Ids, partsOfRebuilds } from './two-parts.js';

/**
 * Coverage: rows that others write, processes that read what is new and move the mark, rebuilds that set one,
 * and a process that answers "absent" for ids up to the mark that it has heard of. Ids are 1, 2, … in the
 * order in which they are taken; their rows become visible in any order, or never. The filter has two parts,
 * of odd and of even ids. A row may be written far ahead, with an id that nobody has taken yet.
 *
 * A step is one script of the server, one question to the source, or one look of a process at what it knows.
 * Time is abstract: whatever has to be as old as the overlap is so, at the earliest, when all rows before it
 * whose ids were taken are visible or given up. That is the condition of the promise, and that no more rows
 * are far ahead at a time than a mark stays behind: in all, or beyond the newest row of the moment in which a
 * rebuild has found empty a gap that the order is yet to come to.
 */
const SAFETIES = {
  'overlap-before-reading':
    'the mark moves to a row that was visible a whole overlap before the reading began',
  'overlap-at-all': 'the mark moves to a row that was visible for a whole overlap',
  'add-before-mark': 'the mark moves when all ids of the reading have been added',
  'both-generations': 'what is added while a rebuild runs is added to its staging too',
  'staged-before-scan': 'a rebuild reads the source when its staging is published',
  'newest-before-scan': 'the mark of a rebuild is the newest row of the moment before it read the source',
  'wait-before-scan':
    'a rebuild reads the source a whole overlap after it asked for the newest row, or sets no mark',
  'mark-after-swap': 'a rebuild sets the mark when it is live',
  'whole-for-mark': 'a rebuild of some parts sets no mark',
  'no-mark-no-cover': 'without a mark every id that the filter lacks is unknown',
  'heard-before-asked': 'a lookup counts with the mark that was known before the filter was asked',
  'lost-is-unknown': 'what a lost part would say is unknown, whatever the mark',
  'expect-mark': 'a note of a mark is refused when there is another one than its writer knows',
  'holder-at-note': 'a note of a process that follows no more is refused',
  'look-back':
    'where the newest row comes before the mark, the mark is given up, or moves far enough before that row for what may be new to be read again',
  'behind-at-reading':
    'a reading moves the mark to a row that others come after, as many as may be far ahead',
  'behind-at-rebuild': 'the mark of a rebuild is a row that as many others come after',
  'gaps-at-reading': 'the largest gaps between the rows that the mark passes are not covered',
  'gaps-at-rebuild': 'the largest gaps between the rows before the mark of a rebuild are not covered',
  'empty-and-passed':
    'a rebuild covers a gap that it finds empty if an earlier one has, and the mark has passed the newest row of then',
  'passed-before-look': 'that mark is the one of when the rebuild began',
  'doubt-covers-nothing':
    'when a rebuild has found rows missing up to the mark, nothing is covered until a later one has found none',
  'add-again': 'the reading after which the mark moves adds also what the reading before has added',
} as const;

type Safety = keyof typeof SAFETIES;

interface Size {
  readonly rows: number;
  readonly followers: number;
  readonly builders: number;
  readonly builds: number;
  readonly losses: number;
  readonly deaths: number;
  /** How often the table is emptied, and its ids begin at 1 again. */
  readonly restarts: number;
  /** How many rows may be written far ahead, and how many others come after a row that is a mark. */
  readonly far: number;
  readonly behind: number;
  /**
   * Whether the largest gaps between rows are not covered, so that any number of rows may be far ahead,
   * beyond them.
   */
  readonly hasGaps: boolean;
  /** Whether the source has `newest()`, so that a mark comes from a rebuild. */
  readonly hasNewest: boolean;
}

type Take = (next: State, step: string) => void;

function buildModel(size: Size, without: Safety | undefined): Model<State> {
  const has = (safety: Safety) => safety !== without;

  const initial: State = {
    rows: Array.from({ length: size.rows }, () => 'none' as const),
    live: 0,
    lost: 0,
    staging: undefined,
    mark: NO_MARK,
    gap: 0,
    empty: [],
    doubt: false,
    holder: NOBODY,
    followers: Array.from({ length: size.followers }, () => IDLE),
    builders: Array.from({ length: size.builders }, () => NO_BUILD),
    heard: NO_MARK,
    heardGap: 0,
    heardDoubt: false,
    lookup: undefined,
    again: 'never',
    isBroken: false,
    left: {
      builds: size.builds,
      losses: size.losses,
      deaths: size.deaths,
      restarts: size.restarts,
      far: size.far,
    },
  };

  function steps(state: State, take: Take): void {
    stepsOfWriters(state, take);
    state.followers.forEach((follower, i) => stepsOfFollower(state, follower, i, take));
    state.builders.forEach((builder, i) => stepsOfBuilder(state, builder, i, take));
    stepsOfLookup(state, take);
    stepsOfServer(state, take);
  }

  function stepsOfWriters(state: State, take: Take): void {
    const { rows, left, builders } = state;
    // A rebuild that runs meanwhile may set the mark of before: a maintenance window has a rebuild at its
    // end.
    const isFree = builders.every(
      ({ at, before }) => at === 'start' || (at === 'live' && before !== NO_MARK),
    );
    if (left.restarts > 0 && isFree && visible(rows) !== 0) {
      const emptied: State = {
        ...state,
        rows: rows.map(() => 'none' as const),
        again: state.mark === NO_MARK ? 'unheard' : 'unnoticed',
        lookup: undefined,
        left: { ...left, restarts: left.restarts - 1 },
      };
      take(emptied, 'the table is emptied, and its ids begin again');
    }
    const next = rows.indexOf('none');
    rows.forEach((row, i) => {
      const become = (to: Row, step: string) =>
        take({ ...state, rows: rows.with(i, to) }, `${step} ${i + 1}`);
      if (i === next) become('taken', 'a transaction takes id');
      else if (row === 'none' && left.far > 0) {
        const written = rows.with(i, 'visible');
        const isBroken = state.isBroken || hasTooFar(state, written);
        const far = { ...state, rows: written, isBroken, left: { ...left, far: left.far - 1 } };
        take(far, `a row is written far ahead, ${i + 1}`);
      }
      if (row !== 'taken') return;
      become('visible', 'a transaction commits id');
      become('given up', 'a transaction gives up id');
    });
  }

  function hasTooFar({ empty, builders }: State, rows: readonly Row[]): boolean {
    if (!size.hasGaps) return farAhead(rows) > size.behind;
    return [...empty, ...builders.flatMap((builder) => builder.empty)].some(
      ({ ids, newest }) => hasOpen(rows, ids) && farAhead(rows, newest) > size.behind,
    );
  }

  function stepsOfFollower(state: State, follower: Follower, i: number, take: Take): void {
    const { mark, holder, rows, left } = state;
    const become = (from: State, next: Follower, step: string) =>
      take({ ...from, followers: from.followers.with(i, next) }, step);
    if (left.deaths > 0 && follower !== IDLE) {
      const after = { ...state, left: { ...left, deaths: left.deaths - 1 } };
      become(after, IDLE, 'a process that follows dies, and begins again');
    }
    switch (follower.at) {
      case 'idle': {
        if (holder !== i && holder !== NOBODY) return;
        const isSame = follower.mark === mark && holder === i;
        const kept = isSame ? follower : { ...IDLE, mark };
        const held = { ...state, holder: i };
        if (mark === NO_MARK && size.hasNewest) {
          if (held.holder !== holder) become(held, kept, 'a process follows, and finds no mark');
          return;
        }
        const { candidate } = kept;
        const isOld = candidate > 0 && isSettled(rows, candidate);
        const asked: Follower = { ...kept, at: 'asked', settled: 0, settledGap: 0 };
        if (isOld || (candidate > 0 && !has('overlap-at-all'))) {
          become(
            held,
            { ...asked, settled: candidate, settledGap: kept.gap },
            'a process follows, and its last row is old enough',
          );
        }
        // A source without newest() reads all rows twice.
        if (mark !== NO_MARK || candidate === 0) become(held, asked, 'a process follows');
        return;
      }
      case 'asked': {
        const ids = visible(rows) & after(follower.mark);
        const newest = highest(visible(rows));
        if (ids !== 0 || newest >= follower.mark || !size.hasNewest)
          return become(state, { ...follower, at: 'read', ids }, 'it reads what is new');
        const isKnown = newest > 0 && (state.live & (1 << (newest - 1))) !== 0;
        // All ids of the model are near the newest row.
        const settled = isKnown ? (has('look-back') ? 0 : newest) : NO_MARK;
        become(state, { ...follower, at: 'back', settled }, 'it finds the mark beyond the newest row');
        return;
      }
      case 'back': {
        if (isRefused(state, follower, i)) return become(state, IDLE, 'its note is refused');
        const moved = follower.settled;
        const next: State = {
          ...state,
          mark: moved,
          again: state.again === 'unnoticed' ? 'unheard' : state.again,
        };
        become(
          next,
          { ...IDLE, mark: moved },
          moved === NO_MARK ? 'it gives the mark up' : `it moves the mark back to ${moved}`,
        );
        return;
      }
      case 'read': {
        const { ids, settled, seen } = follower;
        if (!has('add-before-mark')) return noted(state, follower, i, become);
        const addsAll = (settled > 0 && has('add-again')) || follower.mark === NO_MARK;
        const added = addsAll ? ids : ids & ~seen;
        become(withIds(state, added), { ...follower, at: 'added' }, 'it adds what it read');
        return;
      }
      case 'added':
        if (has('add-before-mark')) return noted(state, follower, i, become);
        become(withIds(state, follower.ids), { ...follower, at: 'idle', ids: 0 }, 'it adds what it read');
    }
  }

  function isRefused({ holder, mark }: State, follower: Follower, i: number): boolean {
    return (holder !== i && has('holder-at-note')) || (mark !== follower.mark && has('expect-mark'));
  }

  function noted(
    state: State,
    follower: Follower,
    i: number,
    become: (from: State, next: Follower, step: string) => void,
  ): void {
    const { mark, rows } = state;
    const { ids, candidate } = follower;
    const settledGap = follower.settledGap;
    const isLate =
      !has('overlap-before-reading') && follower.settled === 0 && candidate > 0 && isSettled(rows, candidate);
    const settled = isLate ? candidate : follower.settled;
    const next = has('add-before-mark')
      ? { at: 'idle' as const, ids: 0, seen: ids }
      : { at: 'added' as const, ids, seen: ids };
    if (isRefused(state, follower, i))
      return become(state, { ...IDLE, ...next, seen: 0 }, 'its note is refused');
    const last = highest(ids, has('behind-at-reading') ? size.behind : 0);
    const isKept = candidate !== settled;
    const gap = isKept ? follower.gap : gapUpTo(ids, follower.mark, last);
    const kept = isKept ? candidate : last;
    const moved = settled > 0 ? settled : mark;
    const passed = has('gaps-at-reading') ? largestGaps(state.gap | settledGap) : state.gap;
    become(
      { ...state, mark: moved, gap: settled > 0 ? passed : state.gap },
      {
        ...IDLE,
        mark: moved,
        candidate: kept > moved ? kept : 0,
        gap: kept > moved ? gap : 0,
        ...next,
      },
      settled > 0 ? `it moves the mark to ${settled}` : 'it notes that it has read',
    );
  }

  function stepsOfBuilder(state: State, builder: Builder, i: number, take: Take): void {
    const { rows, mark, lost, staging, left, live } = state;
    const { at, newest, parts } = builder;
    const become = (from: State, next: Builder, step: string) =>
      take({ ...from, builders: from.builders.with(i, next) }, step);
    if (at !== 'start' && left.deaths > 0) {
      const after = { ...state, left: { ...left, deaths: left.deaths - 1 } };
      become(at === 'live' ? after : { ...after, staging: undefined }, NO_BUILD, 'a rebuild dies');
    }
    const note = (given: State, next: Builder) => {
      const from = { ...withEmpty(given, builder), doubt: given.doubt && !builder.foundNone };
      const isWhole = parts === ALL_PARTS || !has('whole-for-mark');
      const isExpected = mark === builder.before || !has('expect-mark');
      if (!builder.setsMark || newest === 0 || !isWhole || !isExpected)
        return become(from, next, 'a rebuild sets no mark');
      const gap = has('gaps-at-rebuild') ? builder.gap : 0;
      become({ ...from, mark: newest, gap, empty: [] }, next, `a rebuild sets the mark to ${newest}`);
    };
    switch (at) {
      case 'start': {
        const isFree = state.builders.every((other) => other.at === 'start' || other.at === 'live');
        if (left.builds === 0 || !isFree) return;
        const after = { ...state, left: { ...left, builds: left.builds - 1 } };
        const found = newestOf(rows);
        for (const wanted of partsOfRebuilds(lost)) {
          const next: Builder = {
            ...NO_BUILD,
            at: 'noted',
            newest: found,
            gap: gapUpTo(visible(rows), NO_MARK, found),
            before: mark,
            parts: wanted,
          };
          become(after, next, `a rebuild of ${nameOfParts(wanted)} asks for the newest row`);
        }
        return;
      }
      case 'noted': {
        const ids = has('staged-before-scan') ? 0 : visible(rows) & numbersOf(parts);
        become({ ...state, staging: { parts, ids } }, { ...builder, at: 'staged' }, 'a rebuild is staged');
        return;
      }
      case 'staged': {
        if (!staging) return become(state, NO_BUILD, 'a rebuild finds its staging gone');
        const isOld = isSettled(rows, newest) || !has('wait-before-scan');
        const read = has('staged-before-scan') ? visible(rows) & numbersOf(parts) : 0;
        const scanned = { ...state, staging: { parts, ids: staging.ids | read } };
        const last = has('newest-before-scan') ? newest : newestOf(rows);
        const isFound = (missingUpTo(state, builder.before) & numbersOf(parts)) !== 0;
        const reads = (next: Builder, step: string) => {
          // It looks at some rows alone.
          const foundNone = state.doubt && parts === ALL_PARTS && lost === 0 && builder.before !== NO_MARK;
          const empty = emptyOf(state, builder);
          become(scanned, { ...next, at: 'scanned', foundNone, empty }, step);
          if (!isFound) return;
          const again = state.again === 'unnoticed' ? 'unheard' : state.again;
          const doubted: State = { ...scanned, doubt: true, mark: NO_MARK, again };
          become(
            doubted,
            { ...next, at: 'scanned', before: NO_MARK },
            `${step}, and finds rows missing up to the mark`,
          );
        };
        if (isOld) reads({ ...builder, newest: last, setsMark: true }, 'a rebuild reads the source');
        // Where there is a mark it does not wait.
        if (builder.before !== NO_MARK) reads(builder, 'a rebuild reads the source too early to set a mark');
        return;
      }
      case 'scanned': {
        if (!staging) return become(state, NO_BUILD, 'a rebuild finds its staging gone');
        const swapped: State = {
          ...state,
          live: (live & ~numbersOf(parts)) | staging.ids,
          lost: lost & ~parts,
          staging: undefined,
        };
        if (has('mark-after-swap')) become(swapped, { ...builder, at: 'live' }, 'a rebuild goes live');
        else if (builder.setsMark) note(state, { ...builder, setsMark: false });
        else become(swapped, NO_BUILD, 'a rebuild goes live');
        return;
      }
      case 'live':
        note(state, NO_BUILD);
    }
  }

  /** The gaps in which no row is. */
  function emptyOf({ gap, rows }: State, { before }: Builder): EmptyGap[] {
    if (before === NO_MARK) return [];
    const newest = highest(visible(rows));
    return runsOf(gap)
      .filter((ids) => (ids & visible(rows)) === 0)
      .map((ids) => ({ ids, newest }));
  }

  /** When a rebuild is live that has found gaps empty. */
  function withEmpty(state: State, { empty, before }: Builder): State {
    const mark = has('passed-before-look') ? before : state.mark;
    const isIn = (gaps: readonly EmptyGap[], { ids }: EmptyGap) => gaps.some((other) => other.ids === ids);
    const found = empty.filter(({ ids }) => runsOf(state.gap).includes(ids));
    const passed = has('empty-and-passed')
      ? state.empty.filter((gap) => isIn(found, gap) && mark > gap.newest)
      : found;
    const noted = [...state.empty, ...found.filter((gap) => !isIn(state.empty, gap))];
    return {
      ...state,
      gap: passed.reduce((gap, { ids }) => gap & ~ids, state.gap),
      empty: noted.filter((gap) => !isIn(passed, gap)),
    };
  }

  function stepsOfLookup(state: State, take: Take): void {
    const { mark, gap, heard, heardGap, doubt, heardDoubt, lookup } = state;
    const isHeard = mark === heard && gap === heardGap && doubt === heardDoubt && state.again !== 'unheard';
    const again = state.again === 'unheard' ? 'never' : state.again;
    const isKept = again === state.again && doubt === heardDoubt;
    if (!isHeard)
      take(
        {
          ...state,
          heard: mark,
          heardGap: gap,
          heardDoubt: doubt,
          again,
          lookup: isKept ? lookup : undefined,
        },
        `a process hears of the mark ${mark < 0 ? 'that is none' : mark}${doubt ? ', which is doubted' : ''}`,
      );
    if (lookup) return take({ ...state, lookup: undefined }, 'the lookup is over');
    const denied = has('heard-before-asked') ? 0 : missingUpTo(state, size.rows);
    take({ ...state, lookup: { covered: coveredBy(state), denied } }, 'a lookup begins');
  }

  /** Ids that count as absent where the filter says so. */
  function coveredBy({ heard, heardGap, heardDoubt }: State): Ids {
    const isNone = heard === NO_MARK || (heardDoubt && has('doubt-covers-nothing'));
    const upTo = isNone ? (has('no-mark-no-cover') ? 0 : size.rows) : heard;
    return ~after(upTo) & ~heardGap & ((1 << size.rows) - 1);
  }

  function gapUpTo(ids: Ids, from: number, last: number): Ids {
    return size.hasGaps ? gapsIn(ids, from, last) : 0;
  }

  /** Visible rows up to a mark of which the filter would say that they are absent. */
  function missingUpTo(state: State, mark: number): Ids {
    const missing = visible(state.rows) & ~state.live & ~lostIds(state);
    return mark === NO_MARK ? 0 : missing & ~after(mark);
  }

  /** The row that a rebuild takes for its mark. */
  function newestOf(rows: readonly Row[]): number {
    return highest(visible(rows), has('behind-at-rebuild') ? size.behind : 0);
  }

  function stepsOfServer(state: State, take: Take): void {
    const { holder, mark, left, lost, live, staging } = state;
    if (holder !== NOBODY)
      take({ ...state, holder: NOBODY }, 'the process that follows is not heard for too long');
    if (left.losses === 0) return;
    const spent = { ...state, left: { ...left, losses: left.losses - 1 } };
    if (mark !== NO_MARK) take({ ...spent, mark: NO_MARK, holder: NOBODY }, 'the mark is lost');
    if (mark > 0) take({ ...spent, mark: mark - 1, holder: NOBODY }, 'an older mark is restored');
    for (const part of [1, 2]) {
      if ((lost & part) !== 0) continue;
      const isStaged = staging !== undefined && (staging.parts & part) !== 0;
      take(
        {
          ...spent,
          lost: lost | part,
          live: live & ~numbersOf(part),
          staging: isStaged ? undefined : staging,
        },
        `part ${part} is lost`,
      );
    }
  }

  function lostIds({ lost }: State): Ids {
    return has('lost-is-unknown') ? numbersOf(lost) : 0;
  }

  function withIds(state: State, ids: Ids): State {
    const { live, lost, staging } = state;
    return {
      ...state,
      // Where nothing is live the rebuild that has to come reads the rows.
      live: live | (ids & ~numbersOf(lost)),
      staging:
        staging && has('both-generations')
          ? { ...staging, ids: staging.ids | (ids & numbersOf(staging.parts)) }
          : staging,
    };
  }

  function violation(state: State): string | undefined {
    const { lookup, again, isBroken, heardDoubt } = state;
    if (!lookup || again !== 'never' || (isBroken && !heardDoubt)) return undefined;
    const covered = has('heard-before-asked') ? lookup.covered : coveredBy(state);
    const missing = has('heard-before-asked') ? missingUpTo(state, size.rows) : lookup.denied;
    return (missing & covered) === 0 ? undefined : 'a lookup answers "absent" for a row that is covered';
  }

  return { initial, steps, violation, key: keyOf };
}

const system = systemsOf(buildModel);

const NO_TROUBLE = {
  followers: 1,
  builders: 1,
  builds: 1,
  losses: 0,
  deaths: 0,
  restarts: 0,
  far: 0,
  behind: 0,
  hasGaps: false,
  hasNewest: true,
};

export const coverage: Protocol<Safety> = {
  name: 'coverage',
  safeties: SAFETIES,
  systems: [
    system(
      'three rows, a process that follows, a rebuild, a loss',
      { ...NO_TROUBLE, rows: 3, losses: 1 },
      {
        shows: [
          'overlap-before-reading',
          'overlap-at-all',
          'add-before-mark',
          'staged-before-scan',
          'newest-before-scan',
          'wait-before-scan',
          'mark-after-swap',
          'whole-for-mark',
          'no-mark-no-cover',
          'heard-before-asked',
          'lost-is-unknown',
        ],
      },
    ),
    system(
      'two rows of a source without newest(), a process that follows, a rebuild',
      { ...NO_TROUBLE, rows: 2, hasNewest: false },
      { shows: ['both-generations'], spares: ['add-again'] },
    ),
    system(
      'four rows, one of them far ahead, a process that follows, a rebuild',
      { ...NO_TROUBLE, rows: 4, far: 1, behind: 1 },
      { shows: ['behind-at-reading', 'behind-at-rebuild'] },
    ),
    system(
      'five rows, two of them far ahead beyond gaps, a process that follows, a rebuild',
      { ...NO_TROUBLE, rows: 5, far: 2, behind: 1, hasGaps: true },
      { shows: ['gaps-at-reading', 'gaps-at-rebuild'] },
    ),
    system(
      'three rows, one of them far ahead beyond a gap, a process that follows, three rebuilds',
      { ...NO_TROUBLE, rows: 3, far: 1, builds: 3, hasGaps: true },
      { shows: ['empty-and-passed', 'passed-before-look'] },
    ),
    system(
      'four rows, two of them far ahead where a mark stays behind one, a process that follows, two rebuilds',
      { ...NO_TROUBLE, rows: 4, far: 2, behind: 1, builds: 2 },
      { shows: ['doubt-covers-nothing'] },
    ),
    system(
      'two rows, two processes that follow, a rebuild, a death',
      { ...NO_TROUBLE, rows: 2, followers: 2, deaths: 1 },
      { spares: ['holder-at-note'] },
    ),
    system('two rows, two rebuilds at a time', { ...NO_TROUBLE, rows: 2, builders: 2, builds: 2 }),
    system('two rows, a process that follows, a rebuild, ids that begin again', {
      ...NO_TROUBLE,
      rows: 2,
      restarts: 1,
    }),
    system('four rows of a source without newest(), one of them far ahead, a process that follows', {
      ...NO_TROUBLE,
      rows: 4,
      builds: 0,
      far: 1,
      behind: 1,
      hasNewest: false,
    }),
    system('four rows, one of them far ahead, a process that follows, a rebuild, a loss', {
      ...NO_TROUBLE,
      rows: 4,
      losses: 1,
      far: 1,
      behind: 1,
    }),
    system(
      'two rows, a process that follows, two rebuilds, ids that begin again',
      { ...NO_TROUBLE, rows: 2, builds: 2, restarts: 1 },
      { shows: ['expect-mark', 'look-back'], isLarge: true },
    ),
    system(
      'two rows, two processes that follow, a rebuild, a death, ids that begin again',
      { ...NO_TROUBLE, rows: 2, followers: 2, deaths: 1, restarts: 1 },
      { isLarge: true },
    ),
    system(
      'two rows, two rebuilds at a time, two losses, a death',
      { ...NO_TROUBLE, rows: 2, builders: 2, builds: 2, losses: 2, deaths: 1 },
      { isLarge: true },
    ),
  ],
};
