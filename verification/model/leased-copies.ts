import { keyOf } from './leased-copies-key.js';
import {
  type Adder,
  bitOfAdder,
  type Build,
  COMMIT,
  type Entry,
  type Grant,
  type Live,
  type NextCopy,
  type Reader,
  STAGING,
  type State,
  type Wait,
} from './leased-copies-state.js';
import { type Model, type Protocol, systemsOf } from './model.js';

/**
 * The leased copy for one id: readers that answer "absent" from their own copies, adders that wait for them, rebuilds that swap generations, and servers that forget.
 *
 * A step is one script of the server, one entry of the feed applied, or one look of a reader at its own copy. An entry comes as a message, which may be lost, late, out of order
 * or there twice, or is read from the stream, which may have been trimmed. Time is abstract. A reader stops believing in its copy, at the
 * latest, when a whole lease has passed since the server granted the lease; so a wait for a whole lease ends no sooner than every lease that was granted before it.
 */
const SAFETIES = {
  'number-before-load':
    'a reader asks for its lease, and so learns the number of the feed, before it loads blocks',
  'renew-applied': 'a renewal counts when all entries up to the number in its reply have been applied',
  'ack-applied': 'an entry is acknowledged after it has been applied',
  'gap-seen': 'a reader that finds entries trimmed which it has not applied drops its copy',
  'message-follows': 'an entry that comes as a message is applied only if it follows on what was applied',
  'wait-readers':
    'an add resolves when every reader with a lease has acknowledged its entry, or a whole lease has passed',
  'repeat-waits': 'an add of an id that is there already waits for the entries that are not acknowledged yet',
  'swap-entry': 'a swap is an entry, and its commit waits as an add does',
  'tag-in-entry': 'an entry of another generation ends a copy',
  'wait-lost': 'an add that finds nothing live waits a whole lease',
  'new-waits': 'a generation goes live where none was live no sooner than a whole lease after its staging',
  'until-in-meta':
    'the latest end of any lease stands in the metadata, so a list of readers that was lost is noticed',
  'same-list': 'acknowledgements count on the list under which the entry was written',
  'feed-identity': 'numbers belong to one feed: a reader that meets another one drops its copy',
  'same-server': 'a list that another server wrote counts as lost',
  'lease-ends': 'a lease ends for its reader before it ends for those who wait for that',
  'own-copy':
    'an add counts as acknowledged by the copy of its own process, which has the id before the add is sent',
  'announced-whole': 'a staging is announced to readers when all that the source returned is in it',
  'announced-first': 'a reader begins to copy a staging after it was announced',
  'next-in-entry': 'the entry of an add has the places of its ids in the announced staging too',
  'next-repeats': 'while a staging is announced, an add of an id that is live already is an entry as well',
  'next-whole': 'a copy of a staging takes the place of the one before only when it is loaded',
  'next-of-swap': 'a copy of a staging takes that place only when this staging goes live',
  'offline-ends': 'a filter that goes offline ends the announcement of its staging',
} as const;

type Safety = keyof typeof SAFETIES;

interface Size {
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
}

const NO_WAIT: Wait = { for: 'nothing', entry: 0, list: 0, feed: 0 };
const NO_READER: Reader = {
  copy: undefined,
  next: undefined,
  belief: undefined,
  renewal: undefined,
  acknowledged: undefined,
};
const FRESH: Grant = { before: 0 };

function buildModel(size: Size, without: Safety | undefined): Model<State> {
  const has = (safety: Safety) => safety !== without;

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
    readers: Array.from({ length: size.readers }, () => NO_READER),
    adders: Array.from({ length: size.adders }, () => ({
      at: 'start' as const,
      wait: NO_WAIT,
      isStaged: false,
      isDropped: false,
    })),
    build: { at: 'start', wait: NO_WAIT, hasRow: false, runsLeft: size.rebuilds },
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

  function stepsOfReader(
    state: State,
    reader: Reader,
    become: (next: Reader, step: string) => void,
    take: (next: State, step: string) => void,
    i: number,
  ): void {
    const { live, entries, feed } = state;
    const { copy, belief, renewal, acknowledged } = reader;
    const isOfFeed = copy?.feed === feed || !has('feed-identity');
    if (live && !copy) {
      const { generation, hasId } = live;
      if (has('number-before-load')) {
        const loading = { generation, hasId: false, applied: entries.length, feed, isLoading: true };
        const next = { ...reader, copy: loading, belief: FRESH, acknowledged: entries.length };
        take({ ...withReader(state, i, next), isLeaseOut: true }, 'a reader takes a lease');
      } else {
        become(
          { ...reader, copy: { generation, hasId, applied: 0, feed, isLoading: true } },
          'a reader loads',
        );
      }
    }
    if (live && copy?.isLoading && copy.generation === live.generation && copy.feed === feed) {
      if (has('number-before-load')) {
        const loaded = { ...copy, hasId: copy.hasId || live.hasId, isLoading: false };
        become({ ...reader, copy: loaded }, 'a reader has loaded');
      } else {
        const loaded = { ...copy, applied: entries.length, isLoading: false };
        const next = { ...reader, copy: loaded, belief: FRESH, acknowledged: entries.length };
        take({ ...withReader(state, i, next), isLeaseOut: true }, 'a reader takes a lease');
      }
    }
    // The server puts a reader that it does not know on the list again, from what that one has applied.
    if (live && copy && !renewal && isOfFeed && (!copy.isLoading || has('number-before-load'))) {
      const isKnown = copy.generation === live.generation || reader.next?.staging === live.staging;
      if (isKnown || !has('tag-in-entry')) {
        const granted = { before: 0, number: entries.length };
        const next = { ...reader, renewal: granted, acknowledged: acknowledged ?? copy.applied };
        take({ ...withReader(state, i, next), isLeaseOut: true }, 'a reader asks for a renewal');
      }
    }
    if (renewal) {
      if (copy && (copy.applied >= renewal.number || !has('renew-applied'))) {
        become({ ...reader, belief: { before: renewal.before }, renewal: undefined }, 'a renewal counts');
      }
      become({ ...reader, renewal: undefined }, 'a renewal comes too late');
    }
    if (acknowledged !== undefined) {
      const applied = copy ? (isOfFeed ? copy.applied : -1) : entries.length;
      const number = has('ack-applied') ? applied : entries.length;
      if (number > acknowledged) become({ ...reader, acknowledged: number }, 'a reader acknowledges');
    }
    if (copy && copy.feed === feed && copy.applied < entries.length) {
      if (copy.applied < state.trimmed) {
        const next = has('gap-seen')
          ? dropped(reader)
          : { ...reader, copy: { ...copy, applied: state.trimmed } };
        become(next, 'a reader meets a gap');
        // A message may be there yet.
        applyEntry(state, reader, copy.applied, become);
      } else applyEntry(state, reader, copy.applied, become);
      // Messages before it are lost, or come later.
      if (!has('message-follows')) {
        for (let ahead = copy.applied + 1; ahead < entries.length; ahead++)
          applyEntry(state, reader, ahead, become);
      }
    }
    stepsOfNext(state, reader, become);
    if (belief) become({ ...reader, belief: undefined }, 'a lease ends for its reader');
    if (copy && !belief) become({ ...NO_READER, acknowledged }, 'a reader drops its copy');
    if (acknowledged !== undefined && !belief && !renewal) {
      become({ ...reader, acknowledged: undefined }, 'the list drops a reader');
    }
  }

  /** A reader makes a copy of the staging beside the one from which it answers. */
  function stepsOfNext(
    { staging, isAnnounced, build }: State,
    reader: Reader,
    become: (next: Reader, step: string) => void,
  ): void {
    const { copy, next } = reader;
    if (!size.announces || !copy || copy.isLoading || staging === undefined) return;
    if (next?.staging !== build.runsLeft && (isAnnounced || !has('announced-first'))) {
      const begun = { staging: build.runsLeft, hasId: false, isLoading: true };
      become({ ...reader, next: begun }, 'a reader begins to copy a staging');
    }
    if (next?.isLoading && next.staging === build.runsLeft) {
      const loaded = { ...next, hasId: next.hasId || staging, isLoading: false };
      become({ ...reader, next: loaded }, 'a reader has copied a staging');
    }
  }

  /** Entries that were applied before change nothing, however often they come. */
  function applyEntry(
    { entries }: State,
    reader: Reader,
    at: number,
    become: (next: Reader, step: string) => void,
  ) {
    const copy = reader.copy!;
    const { generation, isAdd, staging } = entries[at]!;
    const applied = at + 1;
    const isForNext = isAdd && staging !== undefined && reader.next?.staging === staging;
    const next = reader.next && { ...reader.next, hasId: reader.next.hasId || isForNext };
    if (generation === copy.generation) {
      const hasId = copy.hasId || isAdd;
      become({ ...reader, copy: { ...copy, hasId, applied }, next }, 'a reader applies an entry');
    } else if (next && follows(next, staging)) {
      const { hasId } = next;
      const successor = { ...copy, generation, hasId, applied, isLoading: false };
      become({ ...reader, copy: successor, next: undefined }, 'a reader goes on with its next copy');
    } else if (has('tag-in-entry')) become(dropped(reader), 'a reader meets another generation');
    else become({ ...reader, copy: { ...copy, applied }, next }, 'a reader passes an entry over');
  }

  function follows(next: NextCopy, staging: number | undefined): boolean {
    if (next.isLoading && has('next-whole')) return false;
    return staging !== undefined && (next.staging === staging || !has('next-of-swap'));
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
        const entry = live && entryOfAdd(state, live);
        const written: State = {
          ...state,
          live: live && { ...live, hasId: true },
          staging: staging === undefined ? undefined : true,
          entries: entry ? [...entries, entry] : entries,
        };
        const wait = waitOfAdd(written, entry !== undefined);
        const next: Adder = { ...adder, at: 'waiting', wait, isStaged: staging !== undefined };
        become(begun(written, wait, bitOfAdder(i)), next, live ? 'an add runs' : 'an add finds nothing live');
        return;
      }
      case 'waiting': {
        if (!isOver(state, adder.wait, bitOfAdder(i))) return;
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

  /** The process that adds has a copy: the server notes that its reader has the entry, if it had the one before. */
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
        if (!live && has('new-waits') && !isTimeOver(state, STAGING)) return;
        const generation = generationAfter(state);
        const isEntry = has('swap-entry');
        const announced = state.isAnnounced ? build.runsLeft : undefined;
        const swapped: State = {
          ...state,
          live: { generation, hasId: staging!, staging: build.runsLeft },
          staging: undefined,
          isAnnounced: false,
          entries: isEntry
            ? [...state.entries, { generation, isAdd: false, staging: announced }]
            : state.entries,
          adders: size.hasSource || staging ? adders : adders.map(droppedBy),
        };
        const wait = isEntry ? waitFor(swapped) : NO_WAIT;
        const after = begun(ended(swapped, STAGING), wait, COMMIT);
        take({ ...after, build: { ...build, at: 'waiting', wait } }, 'a generation is swapped in');
        return;
      }
      case 'waiting': {
        if (!isOver(state, build.wait, COMMIT)) return;
        const { runsLeft, hasRow } = build;
        const at = runsLeft > 0 ? 'start' : 'ended';
        const next = { ...ended(state, COMMIT), isRowLive: state.isRowLive || hasRow };
        take({ ...next, build: { at, wait: NO_WAIT, hasRow: false, runsLeft } }, 'a commit is acknowledged');
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
    const isAnnounced = state.isAnnounced && !has('offline-ends');
    if (live) take({ ...state, live: undefined, isAnnounced, left: spent }, 'the filter goes offline');
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
        ...(reader.copy?.isLoading ? NO_READER : reader),
        acknowledged: undefined,
      })),
      adders: state.adders.map((adder) => ({ ...adder, isStaged: false })),
      build: interrupted(state.build),
      left: spent,
    };
    const empty = ended(other, STAGING);
    take({ ...empty, live: undefined, isListLost: false, isLeaseOut: false }, 'the server loses everything');
    // One that is trusted after a restart has every id that was acknowledged: that is the condition of `trustAfterFailover`.
    const isTrusted =
      !state.isRowLive && state.adders.every(({ at }) => at === 'start') && state.build.at === 'start';
    if (live && isTrusted) {
      const isListLost = has('same-server') && state.isLeaseOut;
      take(
        { ...empty, live: { ...live, hasId: false }, isListLost },
        'the server restarts from a snapshot, trusted',
      );
    }
  }

  function waitOfAdd(state: State, isNew: boolean): Wait {
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

  function isOver(state: State, wait: Wait, bit: number): boolean {
    if (wait.for === 'nothing') return true;
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

/** Whether every lease that was granted before the wait began is over. */
function isLeaseOver({ readers }: State, bit: number): boolean {
  return readers.every(
    ({ belief, renewal }) => ((belief?.before ?? 0) & bit) === 0 && ((renewal?.before ?? 0) & bit) === 0,
  );
}

function begun(state: State, wait: Wait, bit: number): State {
  return wait.for === 'nothing' ? state : began(state, bit);
}

/** A wait has begun: the leases that are out were granted before it. */
function began(state: State, bit: number): State {
  const mark = <Of extends Grant>(grant: Of | undefined) => grant && { ...grant, before: grant.before | bit };
  const readers = state.readers.map((reader) => ({
    ...reader,
    belief: mark(reader.belief),
    renewal: mark(reader.renewal),
  }));
  return { ...state, readers };
}

function ended(state: State, bit: number): State {
  const clear = <Of extends Grant>(grant: Of | undefined) =>
    grant && { ...grant, before: grant.before & ~bit };
  const readers = state.readers.map((reader) => ({
    ...reader,
    belief: clear(reader.belief),
    renewal: clear(reader.renewal),
  }));
  return { ...state, readers };
}

function dropped({ acknowledged }: Reader): Reader {
  return { ...NO_READER, acknowledged };
}

function droppedBy(adder: Adder): Adder {
  return adder.at === 'start' ? adder : { ...adder, isDropped: true };
}

/** A run whose staging is gone begins again, as long as it may. */
function interrupted(build: Build): Build {
  const isUnderWay = build.at === 'staged' || build.at === 'scanned';
  return isUnderWay ? { ...build, at: 'start', hasRow: false } : build;
}

function generationAfter({ live, readers, entries }: State): number {
  const known = [live?.generation ?? 0, ...readers.map(({ copy }) => copy?.generation ?? 0)];
  return Math.max(...known, ...entries.map(({ generation }) => generation)) + 1;
}

function withReader(state: State, i: number, reader: Reader): State {
  return { ...state, readers: replaced(state.readers, i, reader) };
}

function replaced<Element>(list: readonly Element[], i: number, element: Element): readonly Element[] {
  const copy = list.slice();
  copy[i] = element;
  return copy;
}

const system = systemsOf(buildModel);

export const leasedCopies: Protocol<Safety> = {
  name: 'leased-copies',
  safeties: SAFETIES,
  systems: [
    system(
      'two readers that add too, an adder, a rebuild, a loss',
      {
        readers: 2,
        adders: 1,
        rebuilds: 1,
        losses: 1,
        others: 0,
        hasSource: true,
        readersAdd: true,
        announces: false,
      },
      {
        shows: [
          'number-before-load',
          'renew-applied',
          'ack-applied',
          'wait-readers',
          'swap-entry',
          'tag-in-entry',
          'wait-lost',
          'new-waits',
          'until-in-meta',
          'same-list',
          'same-server',
          'lease-ends',
          'own-copy',
        ],
      },
    ),
    system(
      'a reader that adds too, two adders, two rebuilds, a loss',
      {
        readers: 1,
        adders: 2,
        rebuilds: 2,
        losses: 1,
        others: 0,
        hasSource: true,
        readersAdd: true,
        announces: false,
      },
      { shows: ['repeat-waits'] },
    ),
    system('a reader that adds too, two adders, two resets, a loss', {
      readers: 1,
      adders: 2,
      rebuilds: 2,
      losses: 1,
      others: 0,
      hasSource: false,
      readersAdd: true,
      announces: false,
    }),
    system('three readers, an adder, a rebuild', {
      readers: 3,
      adders: 1,
      rebuilds: 1,
      losses: 0,
      others: 0,
      hasSource: true,
      readersAdd: false,
      announces: false,
    }),
    system(
      'a reader that copies stagings and adds too, an adder, two rebuilds, a loss',
      {
        readers: 1,
        adders: 1,
        rebuilds: 2,
        losses: 1,
        others: 0,
        hasSource: true,
        readersAdd: true,
        announces: true,
      },
      {
        shows: [
          'announced-whole',
          'announced-first',
          'next-in-entry',
          'next-whole',
          'next-of-swap',
          'offline-ends',
        ],
      },
    ),
    system(
      'a reader that copies stagings, two adders, a reset',
      {
        readers: 1,
        adders: 2,
        rebuilds: 1,
        losses: 0,
        others: 0,
        hasSource: false,
        readersAdd: false,
        announces: true,
      },
      { shows: ['next-repeats'] },
    ),
    system(
      'a reader that adds too, an adder, a rebuild, two losses, two adds of other ids or trims',
      {
        readers: 1,
        adders: 1,
        rebuilds: 1,
        losses: 2,
        others: 2,
        hasSource: true,
        readersAdd: true,
        announces: false,
      },
      { shows: ['gap-seen', 'message-follows', 'feed-identity'], isLarge: true },
    ),
    system(
      'two readers, two adders, a rebuild, a loss',
      {
        readers: 2,
        adders: 2,
        rebuilds: 1,
        losses: 1,
        others: 0,
        hasSource: true,
        readersAdd: false,
        announces: false,
      },
      { isLarge: true },
    ),
  ],
};
