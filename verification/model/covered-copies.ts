import { after, highest, isSettled, NO_MARK, type Row, visible } from './coverage-state.js';
import { type Model, type Protocol, systemsOf } from './model.js';
import type { Numbers as Ids } from './two-parts.js';

/**
 * Copies of a covered filter: a process that hears of the mark, then reads the blocks, and answers "absent"
 * up to that mark from memory, whatever becomes of Redis; and adds, of ids in the order and out of it. How
 * a mark moves is the protocol `coverage`: here one step adds what is visible, and moves the mark to any row
 * before which all ids that were taken are settled.
 *
 * A step is one script of the server, one question to the source, or one look of a process at what it knows.
 * Steps that the process with the copy does not take are those of a time in which it does not reach Redis.
 */
const SAFETIES = {
  'heard-before-blocks': 'a copy has the mark that was heard before its blocks were read',
  'look-after-blocks':
    'a copy covers nothing unless the same generation is live on the same server when its blocks were read',
  'bits-stay': 'a block that a lookup has read takes no bit away that the copy has',
  'own-mark': 'a mark that is heard later says nothing of a copy that is there',
  'given-up-for-good': 'a copy covers nothing any more when the mark was given up',
  'given-up-shows': 'a mark that is given up leaves a trace, by which it differs from one that was lost',
  'other-generation-ends': 'a copy ends when another generation is live',
  'old-is-refused':
    'an add is refused of an id that does not come after the last row at a look, if the filter lacks it',
  'look-at-source': 'the last row is that of the source: Redis may have lost the mark',
  'held-mark': 'while an add may go by a look, no mark moves past the last row of then',
} as const;

type Safety = keyof typeof SAFETIES;

interface Size {
  readonly rows: number;
  readonly adds: number;
  readonly builds: number;
  /** Redis is emptied, loses its blocks, or comes back with what it had before. */
  readonly losses: number;
  /** How often the table is emptied, and its ids begin at 1 again. */
  readonly restarts: number;
  /** Whether lookups ask Redis for what is beyond the mark, and refresh the copy. */
  readonly hasLookups: boolean;
}

interface Copy {
  readonly mark: number;
  readonly ids: Ids;
}

interface Adder {
  readonly at: 'idle' | 'looked' | 'set';
  readonly id: number;
  /** Whether a rebuild has been staged since the bits were set, without this id. */
  readonly isMissed: boolean;
  /** The last row at its look, and any that was found before. */
  readonly upTo: number;
}

interface Build {
  readonly at: 'none' | 'staged' | 'scanned' | 'live';
  readonly ids: Ids;
  /** Rows that it has read. */
  readonly read: Ids;
  readonly newest: number;
  readonly isSettled: boolean;
}

interface State {
  readonly rows: readonly Row[];
  /** Ids written out of order whose adds were refused, or not acknowledged yet. */
  readonly strays: Ids;
  readonly acknowledged: Ids;
  readonly filter: 'ready' | 'lost' | 'suspect';
  readonly live: Ids;
  /** Rows that the rebuild has read which made it live. */
  readonly read: Ids;
  readonly build: Build;
  readonly mark: number;
  /** Whether something is there beside a mark. */
  readonly hasTrace: boolean;
  readonly heard: number;
  /** Whether the mark was given up, as the process with the copy has heard, since it began to copy. */
  readonly isVoid: boolean;
  /** What it has heard before the blocks that it reads next; undefined while it reads none. */
  readonly loading: Copy | undefined;
  readonly copy: Copy | undefined;
  /** What a lookup has read of the live generation that is copied, and is yet to be taken over. */
  readonly refresh: Ids | undefined;
  /** Whether its copy is of another generation than the live one, as it knows and as it is. */
  readonly isKnownOther: boolean;
  readonly isOther: boolean;
  readonly adder: Adder;
  /**
   * Since ids began again the promise holds no sooner than a reading has noticed it, and the process with the
   * copy knows that.
   */
  readonly again: 'never' | 'unnoticed' | 'unheard';
  readonly left: {
    readonly adds: number;
    readonly builds: number;
    readonly losses: number;
    readonly restarts: number;
  };
}

const NO_BUILD: Build = { at: 'none', ids: 0, read: 0, newest: 0, isSettled: false };
const NO_ADD: Adder = { at: 'idle', id: 0, isMissed: false, upTo: 0 };

type Take = (next: State, step: string) => void;

function buildModel(size: Size, without: Safety | undefined): Model<State> {
  const has = (safety: Safety) => safety !== without;

  const initial: State = {
    rows: Array.from({ length: size.rows }, () => 'none' as const),
    strays: 0,
    acknowledged: 0,
    filter: 'lost',
    live: 0,
    read: 0,
    build: NO_BUILD,
    mark: NO_MARK,
    hasTrace: false,
    heard: NO_MARK,
    isVoid: false,
    loading: undefined,
    copy: undefined,
    refresh: undefined,
    isKnownOther: false,
    isOther: false,
    adder: NO_ADD,
    again: 'never',
    left: { adds: size.adds, builds: size.builds, losses: size.losses, restarts: size.restarts },
  };

  function steps(state: State, take: Take): void {
    stepsOfWriters(state, take);
    stepsOfFollower(state, take);
    stepsOfBuild(state, take);
    stepsOfReader(state, take);
    stepsOfAdder(state, take);
    stepsOfServer(state, take);
  }

  function stepsOfWriters(state: State, take: Take): void {
    const { rows, left, build, adder } = state;
    const next = rows.indexOf('none');
    rows.forEach((row, i) => {
      const become = (to: Row, step: string) =>
        take({ ...state, rows: rows.with(i, to) }, `${step} ${i + 1}`);
      if (i === next) become('taken', 'a transaction takes id');
      if (row !== 'taken' || (adder.at === 'set' && adder.id === i + 1)) return;
      become('visible', 'a transaction commits id');
      become('given up', 'a transaction gives up id');
    });
    const isFree = build.at === 'none' && adder.at === 'idle';
    if (left.restarts === 0 || !isFree || visible(rows) === 0) return;
    take(
      {
        ...state,
        rows: rows.map(() => 'none' as const),
        strays: 0,
        acknowledged: 0,
        read: 0,
        again: state.mark === NO_MARK ? 'unheard' : 'unnoticed',
        left: { ...left, restarts: left.restarts - 1 },
      },
      'the table is emptied, and its ids begin again',
    );
  }

  function stepsOfFollower(state: State, take: Take): void {
    const { rows, mark, again } = state;
    if (mark === NO_MARK) return;
    const newest = highest(visible(rows));
    if (newest < mark) {
      const givenUp: State = {
        ...state,
        mark: NO_MARK,
        hasTrace: has('given-up-shows'),
        again: again === 'unnoticed' ? 'unheard' : again,
      };
      return take(givenUp, 'a reading finds the mark beyond the newest row, and gives it up');
    }
    const added = withIds(state, visible(rows));
    take(added, 'a reading adds what is visible');
    for (let row = mark + 1; row <= newest; row++)
      if (rows[row - 1] === 'visible' && isSettled(rows, row) && mayMoveTo(state, row))
        take({ ...added, mark: row }, `a reading adds what is visible, and moves the mark to ${row}`);
  }

  function stepsOfBuild(state: State, take: Take): void {
    const { rows, build, adder, left, mark } = state;
    switch (build.at) {
      case 'none': {
        if (left.builds === 0) return;
        const staged: Build = { ...NO_BUILD, at: 'staged', newest: highest(visible(rows)) };
        take(
          {
            ...state,
            build: staged,
            adder: { ...adder, isMissed: adder.at === 'set' },
            left: { ...left, builds: left.builds - 1 },
          },
          'a rebuild is staged',
        );
        return;
      }
      case 'staged': {
        // The row of an add that was called before is visible by then.
        if (adder.isMissed) return;
        const scanned: Build = {
          ...build,
          at: 'scanned',
          ids: build.ids | visible(rows),
          read: visible(rows),
          isSettled: isSettled(rows, build.newest),
        };
        return take({ ...state, build: scanned }, 'a rebuild reads the source');
      }
      case 'scanned':
        return take(
          {
            ...state,
            filter: 'ready',
            isOther: state.copy !== undefined,
            isKnownOther: false,
            refresh: undefined,
            live: build.ids,
            read: build.read,
            build: { ...build, at: 'live', ids: 0, read: 0 },
          },
          'a rebuild goes live',
        );
      case 'live': {
        const isSet =
          mark === NO_MARK && build.newest > 0 && build.isSettled && mayMoveTo(state, build.newest);
        const noted: State = { ...state, build: NO_BUILD, mark: isSet ? build.newest : mark };
        take(noted, isSet ? `a rebuild sets the mark to ${build.newest}` : 'a rebuild sets no mark');
      }
    }
  }

  function stepsOfReader(state: State, take: Take): void {
    const { mark, hasTrace, heard, copy, filter, live, loading } = state;
    const isGivenUp = mark === NO_MARK && hasTrace;
    const now = isGivenUp || mark !== NO_MARK ? mark : heard;
    if (now !== heard || (isGivenUp && !state.isVoid)) {
      const isLower = now < heard;
      const isVoid = state.isVoid || (has('given-up-for-good') && (isGivenUp || isLower));
      const again = isGivenUp && state.again === 'unheard' ? 'never' : state.again;
      take({ ...state, heard: now, isVoid, again }, `the process hears of the mark ${nameOf(mark)}`);
    }
    if (filter === 'suspect' && loading !== undefined) {
      const read = { ...loading, ids: live };
      const seen: State = { ...state, loading: undefined, copy: has('look-after-blocks') ? copy : read };
      take(seen, 'the process has read the blocks of a server that came back');
    }
    if (filter !== 'ready') return;
    if (copy && state.isOther && !state.isKnownOther) {
      // What it has heard is of now, and it has no copy of before.
      const again = state.again === 'unheard' && now === heard ? 'never' : state.again;
      const isEnded = has('other-generation-ends');
      take(
        { ...state, isKnownOther: true, ...(isEnded && { copy: undefined, isOther: false, again }) },
        'the process finds another generation live',
      );
    }
    if (loading === undefined && copy === undefined) {
      const again = state.again === 'unheard' && now === heard ? 'never' : state.again;
      const begun: State = { ...state, again, loading: { mark: heard, ids: live }, isVoid: false };
      take(begun, 'the process is about to copy the filter');
    }
    if (size.hasLookups && state.refresh === undefined && !state.isOther)
      take({ ...state, refresh: live }, 'a lookup reads blocks');
    if (state.refresh !== undefined && copy && !state.isOther) {
      const ids = has('bits-stay') ? copy.ids | state.refresh : state.refresh;
      take({ ...state, refresh: undefined, copy: { ...copy, ids } }, 'its blocks refresh the copy');
    }
    if (loading === undefined) return;
    const read: Copy = has('heard-before-blocks') ? { ...loading, ids: live } : { ...loading, mark };
    const loaded: State = { ...state, loading: undefined, copy: read, isOther: false, isKnownOther: false };
    take(loaded, `the process has read the blocks, up to the mark ${nameOf(read.mark)}`);
  }

  function stepsOfAdder(state: State, take: Take): void {
    const { adder, rows, left, mark, live, filter } = state;
    switch (adder.at) {
      case 'idle': {
        if (left.adds === 0) return;
        const upTo = has('look-at-source') ? highest(visible(rows)) : Math.max(mark, 0);
        return take(
          { ...state, adder: { ...adder, at: 'looked', upTo } },
          `an adder finds the last row ${upTo}`,
        );
      }
      case 'looked':
        take({ ...state, adder: NO_ADD }, 'its look is too old');
        rows.forEach((row, i) => {
          if (row !== 'taken' && row !== 'given up') return;
          const id = i + 1;
          const bit = 1 << i;
          // The row of an old id becomes visible at any time, at the latest with the acknowledgement.
          const begun: State = {
            ...state,
            strays: row === 'given up' ? state.strays | bit : state.strays,
            left: { ...left, adds: left.adds - 1 },
          };
          // One that the filter has is acknowledged, and nothing is promised that was not before.
          const isOld = id <= adder.upTo && !(filter === 'ready' && (live & bit) !== 0);
          if (isOld && has('old-is-refused'))
            take({ ...begun, rows: rows.with(i, 'visible'), adder: NO_ADD }, `an add of ${id} is refused`);
          else
            take(
              { ...withIds(begun, bit), adder: { ...adder, at: 'set', id } },
              `an add of ${id} sets its bits`,
            );
        });
        return;
      case 'set': {
        const bit = 1 << (adder.id - 1);
        const isPromised = adder.id > adder.upTo || !has('old-is-refused');
        take(
          {
            ...state,
            rows: rows.with(adder.id - 1, 'visible'),
            strays: isPromised ? state.strays & ~bit : state.strays,
            acknowledged: isPromised ? state.acknowledged | bit : state.acknowledged,
            adder: NO_ADD,
          },
          `the add of ${adder.id} is acknowledged`,
        );
      }
    }
  }

  function stepsOfServer(state: State, take: Take): void {
    const { left, mark, filter, build } = state;
    if (left.losses === 0) return;
    const gone: State = {
      ...state,
      build: build.at === 'live' ? build : NO_BUILD,
      left: { ...left, losses: left.losses - 1 },
    };
    const lost: State = { ...gone, filter: 'lost', live: 0, read: 0, refresh: undefined };
    if (filter === 'ready') take(lost, 'the blocks are lost');
    take({ ...lost, mark: NO_MARK, hasTrace: false, build: NO_BUILD }, 'Redis is emptied');
    if (filter !== 'ready') return;
    for (let older = 0; older < mark; older++)
      take(
        { ...gone, filter: 'suspect', live: 0, read: 0, mark: older, refresh: undefined, build: NO_BUILD },
        `Redis comes back with the older mark ${older}`,
      );
  }

  /** A row that was found after a look becomes the mark when the add that goes by it has its row. */
  function mayMoveTo({ adder }: State, row: number): boolean {
    return !has('held-mark') || adder.at === 'idle' || row <= adder.upTo;
  }

  function withIds(state: State, ids: Ids): State {
    const { filter, live, build } = state;
    const isStaged = build.at === 'staged' || build.at === 'scanned';
    return {
      ...state,
      live: filter === 'lost' ? live : live | ids,
      build: isStaged ? { ...build, ids: build.ids | ids } : build,
    };
  }

  /** What the process with the copy denies. */
  function denied({ copy, heard, isVoid, live, filter }: State): Ids {
    const all = (1 << size.rows) - 1;
    const known = heard === NO_MARK ? 0 : all & ~after(heard);
    const own = copy === undefined || copy.mark === NO_MARK ? 0 : all & ~after(copy.mark);
    const upTo = has('own-mark') ? own & known : known;
    const byCopy = copy === undefined || isVoid ? 0 : upTo & ~copy.ids;
    return byCopy | (filter === 'ready' ? known & ~live : 0);
  }

  function violation(state: State): string | undefined {
    const { rows, strays, acknowledged, again, copy, isOther, isKnownOther, filter, read } = state;
    if (again !== 'never') return undefined;
    const wrong = denied(state);
    if ((wrong & acknowledged) !== 0) return 'an id is absent whose add was acknowledged';
    if ((wrong & visible(rows) & ~strays) !== 0) return 'a row is absent that is in the order';
    // A row out of order, once the process knows of the rebuild that has read it.
    const isKnown = filter === 'ready' && (copy === undefined || !isOther || isKnownOther);
    if (isKnown && (wrong & visible(rows) & read) !== 0) return 'a row is absent that a rebuild has read';
    return undefined;
  }

  return { initial, steps, violation, key: keyOf };
}

function nameOf(mark: number): string {
  return mark === NO_MARK ? 'that is none' : String(mark);
}

const ROW = { none: 0, taken: 1, visible: 2, 'given up': 3 };
const FILTER = { ready: 0, lost: 1, suspect: 2 };
const BUILD = { none: 0, staged: 1, scanned: 2, live: 3 };
const ADDER = { idle: 0, looked: 1, set: 2 };
const AGAIN = { never: 0, unnoticed: 1, unheard: 2 };

function keyOf(state: State): string {
  const { rows, build, adder, left } = state;
  return String.fromCharCode(
    rows.reduce((code, row) => 4 * code + ROW[row], 0),
    state.strays + 16 * state.acknowledged + 256 * FILTER[state.filter] + 1024 * AGAIN[state.again],
    state.live + 16 * (state.mark + 1) + 128 * (state.heard + 1) + 1024 * Number(state.hasTrace),
    build.ids + 16 * BUILD[build.at] + 64 * build.newest + 512 * Number(build.isSettled),
    codeOf(state.copy) + 256 * Number(state.isOther) + 512 * Number(state.isKnownOther),
    codeOf(state.loading) + 256 * Number(state.isVoid),
    state.refresh === undefined ? 0 : 1 + state.refresh,
    ADDER[adder.at] + 4 * adder.id + 32 * Number(adder.isMissed) + 64 * adder.upTo,
    state.read + 16 * build.read,
    left.adds + 4 * left.builds + 16 * left.losses + 64 * left.restarts,
  );
}

function codeOf(copy: Copy | undefined): number {
  return copy === undefined ? 0 : 1 + copy.ids + 16 * (copy.mark + 1);
}

const system = systemsOf(buildModel);
const NO_TROUBLE = { rows: 3, adds: 1, builds: 1, losses: 0, restarts: 0, hasLookups: false };

export const coveredCopies: Protocol<Safety> = {
  name: 'covered-copies',
  safeties: SAFETIES,
  systems: [
    system('three rows, a copy, an add, a rebuild', NO_TROUBLE, {
      shows: ['heard-before-blocks', 'own-mark', 'old-is-refused', 'held-mark'],
    }),
    system(
      'two rows, a copy that lookups refresh, an add, a rebuild',
      { ...NO_TROUBLE, rows: 2, hasLookups: true },
      { shows: ['bits-stay'] },
    ),
    system(
      'three rows, a copy, an add, two rebuilds, a loss',
      { ...NO_TROUBLE, builds: 2, losses: 1 },
      {
        shows: ['look-after-blocks', 'other-generation-ends', 'look-at-source'],
      },
    ),
    system(
      'two rows, a copy, two rebuilds, ids that begin again',
      { ...NO_TROUBLE, rows: 2, adds: 0, builds: 2, restarts: 1 },
      { shows: ['given-up-for-good', 'given-up-shows'] },
    ),
    system(
      'three rows, a copy, two adds, two rebuilds, a loss',
      { ...NO_TROUBLE, adds: 2, builds: 2, losses: 1 },
      { isLarge: true },
    ),
  ],
};
