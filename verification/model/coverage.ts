import { type Model, type Protocol, systemsOf } from './model.js';
import { ALL_PARTS, nameOfParts, numbersOf, type Numbers as Ids, partsOfRebuilds } from './two-parts.js';

/**
 * Coverage: rows that others write, processes that read what is new and move the mark, rebuilds that set one, and a process that answers "absent" for ids up to the mark
 * that it has heard of. Ids are 1, 2, … in the order in which they are taken; their rows become visible in any order, or never. The filter has two parts, of odd and of
 * even ids.
 *
 * A step is one script of the server, one question to the source, or one look of a process at what it knows. Time is abstract: whatever has to be as old as the overlap is
 * so, at the earliest, when all rows before it are visible or given up. That is the condition of the promise.
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
  'add-again': 'the reading after which the mark moves adds also what the reading before has added',
} as const;

type Safety = keyof typeof SAFETIES;

type Row = 'none' | 'taken' | 'visible' | 'given up';

/** Of marks and rows: 0 is before the first row. */
const NO_MARK = -1;
const NOBODY = -1;

interface Follower {
  readonly at: 'idle' | 'asked' | 'read' | 'added' | 'back';
  /** As it believes it to be. */
  readonly mark: number;
  /** A row that was the last one of a reading; 0 for none. */
  readonly candidate: number;
  /** Where the mark moves after this reading; 0 for nowhere. Of one that found the mark beyond the newest row: that row, or `NO_MARK`. */
  readonly settled: number;
  readonly ids: Ids;
  /** What its last reading has added. */
  readonly seen: Ids;
}

interface Builder {
  readonly at: 'start' | 'noted' | 'staged' | 'scanned' | 'live';
  readonly newest: number;
  /** The mark when it began. */
  readonly before: number;
  readonly setsMark: boolean;
  /** Bits of the parts that it rebuilds. */
  readonly parts: number;
}

interface State {
  readonly rows: readonly Row[];
  readonly live: Ids;
  /** Bits of the parts that are lost. */
  readonly lost: number;
  /** Undefined where none is published. */
  readonly staging: { readonly parts: number; readonly ids: Ids } | undefined;
  readonly mark: number;
  readonly holder: number;
  readonly followers: readonly Follower[];
  readonly builders: readonly Builder[];
  /** The mark that the process which answers has heard of last. */
  readonly heard: number;
  /** A lookup on its way: what it counts with. */
  readonly lookup: { readonly covered: number; readonly denied: Ids } | undefined;
  /**
   * Since the ids began again the promise holds no sooner than a reading has noticed it, and the process that answers has heard that.
   */
  readonly again: 'never' | 'unnoticed' | 'unheard';
  readonly left: {
    readonly builds: number;
    readonly losses: number;
    readonly deaths: number;
    readonly restarts: number;
  };
}

interface Size {
  readonly rows: number;
  readonly followers: number;
  readonly builders: number;
  readonly builds: number;
  readonly losses: number;
  readonly deaths: number;
  /** How often the table is emptied, and its ids begin at 1 again. */
  readonly restarts: number;
  /** Whether the source has `newest()`, so that a mark comes from a rebuild. */
  readonly hasNewest: boolean;
}

type Take = (next: State, step: string) => void;

const IDLE: Follower = { at: 'idle', mark: NO_MARK, candidate: 0, settled: 0, ids: 0, seen: 0 };
const NO_BUILD: Builder = { at: 'start', newest: 0, before: NO_MARK, setsMark: false, parts: 0 };

function buildModel(size: Size, without: Safety | undefined): Model<State> {
  const has = (safety: Safety) => safety !== without;

  const initial: State = {
    rows: Array.from({ length: size.rows }, () => 'none' as const),
    live: 0,
    lost: 0,
    staging: undefined,
    mark: NO_MARK,
    holder: NOBODY,
    followers: Array.from({ length: size.followers }, () => IDLE),
    builders: Array.from({ length: size.builders }, () => NO_BUILD),
    heard: NO_MARK,
    lookup: undefined,
    again: 'never',
    left: { builds: size.builds, losses: size.losses, deaths: size.deaths, restarts: size.restarts },
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
    // A rebuild that runs meanwhile may set the mark of before: a maintenance window has a rebuild at its end.
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
    rows.forEach((row, i) => {
      const become = (next: Row, step: string) =>
        take({ ...state, rows: rows.with(i, next) }, `${step} ${i + 1}`);
      if (row === 'none' && (i === 0 || rows[i - 1] !== 'none')) become('taken', 'a transaction takes id');
      if (row !== 'taken') return;
      become('visible', 'a transaction commits id');
      become('given up', 'a transaction gives up id');
    });
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
        const asked: Follower = { ...kept, at: 'asked', settled: 0 };
        if (isOld || (candidate > 0 && !has('overlap-at-all'))) {
          become(held, { ...asked, settled: candidate }, 'a process follows, and its last row is old enough');
        }
        // Of a source without newest() all rows are read twice.
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
    const isLate =
      !has('overlap-before-reading') && follower.settled === 0 && candidate > 0 && isSettled(rows, candidate);
    const settled = isLate ? candidate : follower.settled;
    const next = has('add-before-mark')
      ? { at: 'idle' as const, ids: 0, seen: ids }
      : { at: 'added' as const, ids, seen: ids };
    if (isRefused(state, follower, i))
      return become(state, { ...IDLE, ...next, seen: 0 }, 'its note is refused');
    const last = highest(ids);
    const kept = candidate === settled ? last : candidate;
    const moved = settled > 0 ? settled : mark;
    become(
      { ...state, mark: moved },
      { mark: moved, candidate: kept > moved ? kept : 0, settled: 0, ...next },
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
    const note = (from: State, next: Builder) => {
      const isWhole = parts === ALL_PARTS || !has('whole-for-mark');
      const isExpected = mark === builder.before || !has('expect-mark');
      if (!builder.setsMark || newest === 0 || !isWhole || !isExpected)
        return become(from, next, 'a rebuild sets no mark');
      become({ ...from, mark: newest }, next, `a rebuild sets the mark to ${newest}`);
    };
    switch (at) {
      case 'start': {
        const isFree = state.builders.every((other) => other.at === 'start' || other.at === 'live');
        if (left.builds === 0 || !isFree) return;
        const after = { ...state, left: { ...left, builds: left.builds - 1 } };
        const found = highest(visible(rows));
        for (const wanted of partsOfRebuilds(lost)) {
          const next: Builder = { ...NO_BUILD, at: 'noted', newest: found, before: mark, parts: wanted };
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
        const last = has('newest-before-scan') ? newest : highest(visible(rows));
        if (isOld)
          become(
            scanned,
            { ...builder, at: 'scanned', newest: last, setsMark: true },
            'a rebuild reads the source',
          );
        // Where there is a mark it does not wait.
        if (builder.before !== NO_MARK)
          become(
            scanned,
            { ...builder, at: 'scanned' },
            'a rebuild reads the source too early to set a mark',
          );
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

  function stepsOfLookup(state: State, take: Take): void {
    const { mark, heard, lookup, rows } = state;
    const isHeard = mark === heard && state.again !== 'unheard';
    const again = state.again === 'unheard' ? 'never' : state.again;
    if (!isHeard)
      take(
        { ...state, heard: mark, again, lookup: again === state.again ? lookup : undefined },
        `a process hears of the mark ${mark < 0 ? 'that is none' : mark}`,
      );
    if (lookup) return take({ ...state, lookup: undefined }, 'the lookup is over');
    const denied = has('heard-before-asked') ? 0 : visible(rows) & ~state.live & ~lostIds(state);
    take({ ...state, lookup: { covered: heard, denied } }, 'a lookup begins');
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
    const { lookup, heard, rows, live, again } = state;
    if (!lookup || again !== 'never') return undefined;
    const covered = has('heard-before-asked') ? lookup.covered : heard;
    const upTo = covered === NO_MARK ? (has('no-mark-no-cover') ? 0 : size.rows) : covered;
    const missing = has('heard-before-asked') ? visible(rows) & ~live & ~lostIds(state) : lookup.denied;
    return (missing & ~after(upTo)) === 0 ? undefined : 'a lookup answers "absent" for a row that is covered';
  }

  return { initial, steps, violation, key: keyOf };
}

/** Whether all rows before it are visible, or never will be. */
function isSettled(rows: readonly Row[], id: number): boolean {
  return rows.every((row, i) => i + 1 >= id || row === 'visible' || row === 'given up');
}

function visible(rows: readonly Row[]): Ids {
  return rows.reduce((ids, row, i) => (row === 'visible' ? ids | (1 << i) : ids), 0);
}

/** All ids after a mark. */
function after(mark: number): Ids {
  return mark <= 0 ? -1 : -1 << mark;
}

/** The last of the ids; 0 for none. */
function highest(ids: Ids): number {
  return 32 - Math.clz32(ids);
}

const ROW = { none: 0, taken: 1, visible: 2, 'given up': 3 };
const FOLLOWER_AT = { idle: 0, asked: 1, read: 2, added: 3, back: 4 };
const AGAIN = { never: 0, unnoticed: 1, unheard: 2 };
const BUILDER_AT = { start: 0, noted: 1, staged: 2, scanned: 3, live: 4 };

function keyOf(state: State): string {
  const { staging, lookup, left, holder } = state;
  const followers = state.followers.map(({ at, mark, candidate, settled, ids, seen }, i) =>
    String.fromCharCode(
      FOLLOWER_AT[at] + 8 * (mark + 1) + 64 * candidate + 512 * (settled + 1),
      ids + 64 * seen + (holder === i ? 4096 : 0),
    ),
  );
  const builders = state.builders.map(({ at, newest, before, setsMark, parts }) =>
    String.fromCharCode(BUILDER_AT[at] + 8 * newest + 64 * (before + 1) + 512 * Number(setsMark), parts),
  );
  return (
    String.fromCharCode(
      state.rows.reduce((code, row) => 4 * code + ROW[row], 0),
      state.live + 64 * state.lost + 512 * (state.mark + 1) + 4096 * (state.heard + 1),
      staging ? 1 + staging.parts + 8 * staging.ids : 0,
      lookup ? 1 + (lookup.covered + 1) + 8 * lookup.denied : 0,
      left.builds + 8 * left.losses + 64 * left.deaths + 512 * left.restarts + 4096 * AGAIN[state.again],
    ) +
    followers.sort().join('') +
    builders.sort().join('')
  );
}

const system = systemsOf(buildModel);

const NO_TROUBLE = {
  followers: 1,
  builders: 1,
  builds: 1,
  losses: 0,
  deaths: 0,
  restarts: 0,
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
