import {
  began,
  begun,
  droppedBy,
  ended,
  generationAfter,
  granted,
  interrupted,
  isLeaseOver,
  NO_READER,
  replaced,
  withoutSights,
  withReader,
} from './leased-copies-changes.js';
import { keyOf } from './leased-copies-key.js';
import { readerSteps } from './leased-copies-reader.js';
import type { Safety } from './leased-copies-safeties.js';
import {
  type Adder,
  bitOfAdder,
  COMMIT,
  type Entry,
  type Live,
  SIGHT,
  sightOfAdder,
  STAGING,
  type State,
  type Wait,
} from './leased-copies-state.js';
import type { Model } from './model.js';

export interface LeasedCopiesSize {
  readonly readers: number;
  readonly adders: number;
  readonly rebuilds: number;
  readonly losses: number;
  /** Adds of other ids, and trims of the feed. */
  readonly others: number;
  /** Without one, a rebuild is a `reset()`. */
  readonly hasSource: boolean;
  /** Whether a process that reads adds too. */
  readonly readersAdd: boolean;
  /** Whether stagings are announced, and readers copy them. */
  readonly announces: boolean;
  /** Whether a server may come back, trusted, with metadata of before the first lease. */
  readonly forgets?: boolean;
}

const NO_WAIT: Wait = { for: 'nothing', entry: 0, list: 0, feed: 0 };

/**
 * The leased copy for one id: readers that answer "absent" from their own copies, adders that wait for them,
 * rebuilds that swap generations, and servers that forget.
 *
 * A step is one script of the server, one entry of the feed applied, or one look of a reader at its own copy.
 * An entry comes as a message, which may be lost, late, out of order or there twice, or is read from the
 * stream, which may have been trimmed. Time is abstract. A reader stops believing in its copy, at the latest,
 * when a whole lease has passed since the server granted the lease; so a wait for a whole lease ends no
 * sooner than every lease that was granted before it.
 */
export function buildLeasedCopies(size: LeasedCopiesSize, without: Safety | undefined): Model<State> {
  const has = (safety: Safety) => safety !== without;
  const stepsOfReader = readerSteps(has, size.announces);

  const initial: State = {
    live: { generation: 1, hasId: false, staging: size.rebuilds },
    staging: undefined,
    isAnnounced: false,
    feed: 0,
    entries: [],
    trimmed: 0,
    list: 0,
    isListLost: false,
    isLeaseOut: false,
    unknown: 'no',
    readers: Array.from({ length: size.readers }, () => NO_READER),
    adders: Array.from({ length: size.adders }, () => ({
      at: 'start' as const,
      wait: NO_WAIT,
      isStaged: false,
      isDropped: false,
      hasSeen: false,
    })),
    build: { at: 'start', wait: NO_WAIT, hasRow: false, runsLeft: size.rebuilds, hasSeen: false },
    isImported: false,
    isRowLive: false,
    left: { losses: size.losses, others: size.others },
  };

  function steps(state: State, take: (next: State, step: string) => void): void {
    state.readers.forEach((reader, i) => {
      stepsOfReader(state, reader, (next, step) => take(withReader(state, i, next), step), take, i);
    });
    state.adders.forEach((adder, i) => {
      stepsOfAdder(state, adder, i, take);
      if (size.readersAdd) stepsOfOwnAdder(state, adder, i, take);
    });
    stepsOfBuild(state, take);
    stepsOfServer(state, take);
  }

  function stepsOfAdder(
    state: State,
    adder: Adder,
    i: number,
    take: (next: State, step: string) => void,
  ): void {
    const { live, staging, entries } = state;
    const become = (from: State, next: Adder, step: string) =>
      take({ ...from, adders: replaced(from.adders, i, next) }, step);
    switch (adder.at) {
      case 'start': {
        if (!live && !size.hasSource) return;
        if (state.unknown !== 'no' && !adder.hasSeen) {
          const looked = began(state, sightOfAdder(i));
          become(looked, { ...adder, hasSeen: true }, 'a process that adds sees metadata without leases');
          return;
        }
        const entry = live && entryOfAdd(state, live);
        const written: State = {
          ...state,
          live: live && { ...live, hasId: true },
          staging: staging === undefined ? undefined : true,
          entries: entry ? [...entries, entry] : entries,
        };
        const wait = waitOfAdd(written, entry !== undefined);
        const isStaged = staging !== undefined;
        const next: Adder = { ...adder, at: 'waiting', wait, isStaged, hasSeen: false };
        become(begun(written, wait, bitOfAdder(i)), next, live ? 'an add runs' : 'an add finds nothing live');
        return;
      }
      case 'waiting': {
        if (!isOver(state, adder.wait, bitOfAdder(i), sightOfAdder(i))) return;
        const next: Adder = { ...adder, at: 'acknowledged', wait: NO_WAIT };
        become(ended(state, bitOfAdder(i)), next, 'an add is acknowledged');
        return;
      }
      case 'acknowledged':
        become(state, { ...adder, at: 'committed' }, 'a row is committed');
        return;
      case 'committed':
    }
  }

  /** Ids are entries that are new in the live generation, and all of them while a staging is announced. */
  function entryOfAdd({ isAnnounced, build }: State, { generation, hasId }: Live): Entry | undefined {
    if (hasId && !(isAnnounced && has('next-repeats'))) return undefined;
    const staging = isAnnounced && has('next-in-entry') ? build.runsLeft : undefined;
    return { generation, isAdd: true, staging };
  }

  /**
   * The process that adds has a copy: the server notes that its reader has the entry, if it had the one
   * before.
   */
  function stepsOfOwnAdder(state: State, adder: Adder, i: number, take: (next: State, step: string) => void) {
    const { live, staging, entries } = state;
    if (adder.at !== 'start' || !live) return;
    const entry = entryOfAdd(state, live);
    if (!entry) return;
    state.readers.forEach((reader, own) => {
      const { copy, acknowledged } = reader;
      if (!copy || acknowledged !== entries.length) return;
      const holder = { ...copy, hasId: copy.hasId || has('own-copy') };
      const written: State = {
        ...withReader(state, own, { ...reader, copy: holder, acknowledged: acknowledged + 1 }),
        live: { ...live, hasId: true },
        staging: staging === undefined ? undefined : true,
        entries: [...entries, entry],
      };
      const wait = waitOfAdd(written, true);
      const next: Adder = { ...adder, at: 'waiting', wait, isStaged: staging !== undefined };
      const after = { ...written, adders: replaced(state.adders, i, next) };
      take(begun(after, wait, bitOfAdder(i)), 'an add runs, of a process that reads');
    });
  }

  function stepsOfBuild(state: State, take: (next: State, step: string) => void): void {
    const { build, live, staging, adders } = state;
    if (!state.isImported && size.hasSource) take({ ...state, isImported: true }, 'a row is imported');
    if (size.announces && staging !== undefined && build.runsLeft > 0) {
      const next = { ...state, staging: undefined, isAnnounced: false, build: interrupted(build) };
      take(ended(next, STAGING), 'a rebuild dies');
    }
    if (state.unknown !== 'no' && !build.hasSeen && build.at !== 'waiting' && build.at !== 'ended') {
      const looked = { ...began(state, SIGHT), build: { ...build, hasSeen: true } };
      take(looked, 'a process that builds sees metadata without leases');
    }
    switch (build.at) {
      case 'start': {
        if (build.runsLeft === 0) return;
        const next: State = {
          ...state,
          staging: false,
          isAnnounced: false,
          adders: adders.map((adder) => ({ ...adder, isStaged: false })),
          build: { ...build, at: 'staged', hasRow: false, runsLeft: build.runsLeft - 1 },
        };
        take(began(next, STAGING), 'a staging is published');
        return;
      }
      case 'staged': {
        if (!has('announced-whole')) announce(state, take);
        // The drain: an add that is not in the staging has its row visible by then.
        const isDrained = adders.every(
          ({ at, isStaged }) => at === 'start' || at === 'committed' || isStaged,
        );
        if (size.hasSource && !isDrained) return;
        const hasRow = size.hasSource && (state.isImported || adders.some(({ at }) => at === 'committed'));
        take(
          { ...state, staging: staging || hasRow, build: { ...build, at: 'scanned', hasRow } },
          'the source is read',
        );
        return;
      }
      case 'scanned': {
        announce(state, take);
        const isUnknown = state.unknown !== 'no';
        if (isUnknown && !build.hasSeen) return;
        const isEarly = !isTimeOver(state, STAGING);
        if (isEarly && ((!live && has('new-waits')) || (isUnknown && has('unseen-swap')))) return;
        const generation = generationAfter(state);
        // An entry is for the readers of a list, which the metadata do not know of then.
        const isEntry = has('swap-entry') && !isUnknown;
        const isAnnounced = state.isAnnounced && (live !== undefined || !has('announced-live'));
        const announced = isAnnounced ? build.runsLeft : undefined;
        const known = isUnknown ? withoutSights({ ...state, unknown: 'swapped' }) : state;
        const swapped: State = {
          ...known,
          live: { generation, hasId: staging!, staging: build.runsLeft },
          staging: undefined,
          isAnnounced: false,
          entries: isEntry
            ? [...state.entries, { generation, isAdd: false, staging: announced }]
            : state.entries,
          adders: size.hasSource || staging ? known.adders : known.adders.map(droppedBy),
        };
        const wait = isUnknown ? waitSinceSight() : isEntry ? waitFor(swapped) : NO_WAIT;
        const after = begun(ended(swapped, STAGING), wait, COMMIT);
        take(
          { ...after, build: { ...build, at: 'waiting', wait, hasSeen: false } },
          'a generation is swapped in',
        );
        return;
      }
      case 'waiting': {
        if (!isOver(state, build.wait, COMMIT, SIGHT)) return;
        const { runsLeft, hasRow, hasSeen } = build;
        const at = runsLeft > 0 ? 'start' : 'ended';
        const next = { ...ended(state, COMMIT), isRowLive: state.isRowLive || hasRow };
        take(
          { ...next, build: { at, wait: NO_WAIT, hasRow: false, runsLeft, hasSeen } },
          'a commit is acknowledged',
        );
        return;
      }
      case 'ended':
    }
  }

  function announce(state: State, take: (next: State, step: string) => void): void {
    if (size.announces && state.live && !state.isAnnounced)
      take({ ...state, isAnnounced: true }, 'a staging is announced');
  }

  function stepsOfServer(state: State, take: (next: State, step: string) => void): void {
    const { live, left, readers } = state;
    if (
      state.isLeaseOut &&
      readers.every((reader) => !reader.belief && !reader.renewal && reader.acknowledged === undefined)
    ) {
      take({ ...state, isLeaseOut: false, isListLost: false }, 'the last lease ends');
    }
    if (left.others > 0 && live) {
      const others = left.others - 1;
      const other: Entry = { generation: live.generation, isAdd: false, staging: undefined };
      const entries = [...state.entries, other];
      take({ ...state, entries, left: { ...left, others } }, 'another id is added');
      if (state.entries.length > state.trimmed) {
        take({ ...state, trimmed: state.entries.length, left: { ...left, others } }, 'the feed is trimmed');
      }
    }
    if (left.losses === 0) return;
    const spent = { ...left, losses: left.losses - 1 };
    // Whoever takes it offline knows of leases, and notes them.
    const noted = state.unknown === 'no' ? state : { ...granted(state, has), isListLost: true };
    if (live) take({ ...noted, live: undefined, left: spent }, 'the filter goes offline');
    if (readers.some(({ acknowledged }) => acknowledged !== undefined)) {
      const unlisted = readers.map((reader) => ({ ...reader, acknowledged: undefined }));
      const isListLost = has('until-in-meta') && state.isLeaseOut;
      take(
        { ...state, readers: unlisted, list: state.list + 1, isListLost, left: spent },
        'the list of readers is lost',
      );
    }
    const other: State = {
      ...state,
      staging: undefined,
      isAnnounced: false,
      feed: state.feed + 1,
      entries: [],
      trimmed: 0,
      list: state.list + 1,
      readers: readers.map((reader) => ({
        ...(reader.copy?.isLoading && has('one-server') ? NO_READER : reader),
        acknowledged: undefined,
      })),
      adders: state.adders.map((adder) => ({ ...adder, isStaged: false })),
      build: interrupted(state.build),
      left: spent,
    };
    const empty: State = { ...withoutSights(ended(other, STAGING)), unknown: 'no' };
    take({ ...empty, live: undefined, isListLost: false, isLeaseOut: false }, 'the server loses everything');
    // One that is trusted after a restart has every id that was acknowledged: that is the condition of
    // `trustAfterFailover`.
    const isTrusted =
      !state.isRowLive && state.adders.every(({ at }) => at === 'start') && state.build.at === 'start';
    if (live && isTrusted) {
      const isListLost = has('same-server') && state.isLeaseOut;
      take(
        { ...empty, live: { ...live, hasId: false }, isListLost },
        'the server restarts from a snapshot, trusted',
      );
      if (size.forgets && state.isLeaseOut) {
        const older = { ...live, hasId: false };
        take(
          { ...empty, live: older, isListLost: false, isLeaseOut: false, unknown: 'restored' },
          'the server restarts from a snapshot of before the first lease, trusted',
        );
      }
    }
  }

  function waitSinceSight(): Wait {
    return has('unseen-waits') ? { ...NO_WAIT, for: 'sight' } : NO_WAIT;
  }

  function waitOfAdd(state: State, isNew: boolean): Wait {
    if (state.live && state.unknown !== 'no') return waitSinceSight();
    if (!state.live) return has('wait-lost') ? { ...waitFor(state), for: 'lease' } : NO_WAIT;
    return isNew || has('repeat-waits') ? waitFor(state) : NO_WAIT;
  }

  /** For all that was written until now to be known to those who may answer from a copy. */
  function waitFor(state: State): Wait {
    const { isListLost, isLeaseOut, list, feed, entries } = state;
    const at = { entry: entries.length, list, feed };
    if (isListLost && isLeaseOut) return { for: 'lease', ...at };
    const isRead = state.readers.some(({ acknowledged }) => acknowledged !== undefined);
    const isKnown = state.readers.every(({ acknowledged = Infinity }) => acknowledged >= entries.length);
    return isRead && !isKnown && has('wait-readers') ? { for: 'readers', ...at } : NO_WAIT;
  }

  function isOver(state: State, wait: Wait, bit: number, sight: number): boolean {
    if (wait.for === 'nothing') return true;
    if (wait.for === 'sight') return isTimeOver(state, sight);
    const isSameList = state.list === wait.list || !has('same-list');
    const isAcknowledged =
      wait.for === 'readers' &&
      isSameList &&
      (state.feed === wait.feed || !has('same-list')) &&
      state.readers.every(({ acknowledged = Infinity }) => acknowledged >= wait.entry);
    return isAcknowledged || isTimeOver(state, bit);
  }

  function isTimeOver(state: State, bit: number): boolean {
    return isLeaseOver(state, bit) || !has('lease-ends');
  }

  return { initial, steps, violation: (state) => violationOf(state), key: keyOf };
}

function violationOf({ readers, adders, isRowLive }: State): string | undefined {
  const isPromised =
    isRowLive ||
    adders.some(({ at, isDropped }) => !isDropped && (at === 'acknowledged' || at === 'committed'));
  if (!isPromised) return undefined;
  const isDenied = readers.some(({ belief, copy }) => belief && copy && !copy.isLoading && !copy.hasId);
  return isDenied ? 'a reader answers "absent" for an id that is promised' : undefined;
}
