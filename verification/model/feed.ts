import {
  committed,
  type Follower,
  IDLE,
  keyOf,
  NO_PLACE,
  NOBODY,
  type Run,
  type State,
} from './feed-state.js';
import { type Model, type Protocol, systemsOf } from './model.js';
import { ALL_PARTS, nameOfParts, numbersOf, partsOfRebuilds } from './two-parts.js';

/**
 * A feed of Postgres: rows that others commit in any order, a slot that gives them in the order of commits,
 * processes that follow it and add what they read, rebuilds that fill gaps and losses, and persons who drop,
 * create or read slots. A change of the table brings a row that is not in the log: a partition that is
 * attached, a table that takes the name of another one, a publication that has lacked the table. The filter
 * has two parts, of odd and of even rows.
 *
 * A step is one script of the server of the filter, one answer of the database, one message of the log that
 * is received or handled. A process that stands still takes no step for a while, so every step may come late.
 */
const SAFETIES = {
  'no-position': 'without a noted place, rows may have been missed',
  'same-server': 'a place that was noted of another server, or before a standby took over, is none',
  'slot-ahead': 'where the slot is further than the noted place, rows may have been missed',
  'look-again': 'the slot is compared again when nobody else can move it any more',
  'last-gap': 'a gap that is found while another one is filled needs a rebuild of its own',
  'table-noted': 'a place is noted with the table that its log was of: another table is a gap',
  'table-looked-at': 'a table that has become another one while its log is read is a gap',
  'new-slot': 'a slot that was created by the feed may lack rows',
  'listen-first': 'the slot is there before the rebuild that fills the gap begins',
  'new-run': 'a rebuild that began before the gap was found does not fill it',
  'whole-for-gap': 'a rebuild of some parts does not fill a gap',
  'gap-holds': 'while a gap is not filled no place is noted',
  'add-before-save': 'a place is noted when all rows before it have been added',
  'save-before-confirm': 'Postgres is told a place that was noted',
  'own-acknowledging': 'what was received is not acknowledged for that',
  'heartbeat-caught-up': 'a heartbeat counts when everything that came before it was handled',
  'end-on-failure': 'after an add that failed the feed ends, and begins before it',
  'holder-at-save': 'a place that a process notes which follows no more is refused',
  'both-generations': 'what is added while a rebuild runs is added to its staging too',
  'staged-before-scan': 'a rebuild reads the source when its staging is published',
  drain: 'a rebuild reads the source when commits that were in the log at its staging are visible',
} as const;

type Safety = keyof typeof SAFETIES;

interface Size {
  readonly rows: number;
  readonly followers: number;
  readonly builds: number;
  readonly losses: number;
  readonly hands: number;
  readonly deaths: number;
  readonly failovers: number;
  readonly changes: number;
  /** Whether the feed creates its slot; else a person has to. */
  readonly creates: boolean;
}

type Take = (next: State, step: string) => void;
/** Calls `take` with the state in which the process is another one. */
type Become = (from: State, next: Follower, step: string) => void;

function buildModel(size: Size, without: Safety | undefined): Model<State> {
  const has = (safety: Safety) => safety !== without;

  const { builds, losses, hands, deaths, failovers, changes } = size;
  /** The row that a change of the table brings. */
  const arrival = 1 << size.rows;
  const initial: State = {
    log: [],
    visible: 0,
    line: 0,
    table: 0,
    slot: undefined,
    position: NO_PLACE,
    positionLine: 0,
    positionTable: 0,
    holder: NOBODY,
    live: 0,
    lost: ALL_PARTS,
    staging: undefined,
    run: undefined,
    followers: Array.from({ length: size.followers }, () => IDLE),
    left: { builds, losses, hands, deaths, failovers, changes },
  };

  function steps(state: State, take: Take): void {
    stepsOfDatabase(state, take);
    state.followers.forEach((follower, i) => {
      const become: Become = (from, next, step) =>
        take({ ...from, followers: from.followers.with(i, next) }, step);
      stepsOfFollower(state, follower, i, become);
    });
    stepsOfRun(state, take);
    stepsOfServer(state, take);
  }

  function stepsOfDatabase(state: State, take: Take): void {
    const { log, visible, slot, left, line } = state;
    const inLog = committed(log);
    for (let row = 1; row <= size.rows; row++) {
      const bit = 1 << (row - 1);
      if ((inLog & bit) === 0) take({ ...state, log: [...log, row] }, `row ${row} is committed`);
      else if ((visible & bit) === 0)
        take({ ...state, visible: visible | bit }, `row ${row} becomes visible`);
    }
    if (left.changes > 0)
      take(
        { ...state, table: state.table + 1, left: { ...left, changes: left.changes - 1 } },
        'the table becomes another one',
      );
    if (isArriving(state))
      take({ ...state, visible: visible | arrival }, 'the row that came with it becomes visible');
    if (left.hands > 0 && (!slot || slot.reader === NOBODY)) {
      const spent = { ...state, left: { ...left, hands: left.hands - 1 } };
      if (slot) take({ ...spent, slot: undefined }, 'somebody drops the slot');
      if (slot && slot.confirmed < log.length)
        take(
          { ...spent, slot: { ...slot, confirmed: log.length } },
          'somebody else reads the slot to its end',
        );
    }
    // That one has to be created is no fault of anybody.
    if (!slot && !size.creates)
      take(
        { ...state, slot: { first: log.length, confirmed: log.length, reader: NOBODY } },
        'somebody creates the slot',
      );
    if (left.deaths > 0 && slot && slot.confirmed > slot.first) {
      const back = { ...slot, confirmed: slot.confirmed - 1, reader: NOBODY };
      const next = { ...state, slot: back, left: { ...left, deaths: left.deaths - 1 } };
      take(cutOff(next), 'Postgres crashes, and its slot is where it was before');
    }
    if (left.failovers > 0) {
      for (let length = 0; length <= log.length; length++) {
        const kept = log.slice(0, length);
        const rows = committed(kept);
        const next: State = cutOff({
          ...withoutRun(state),
          log: kept,
          visible: visible & (rows | arrival),
          line: line + 1,
          slot: undefined,
          left: { ...left, failovers: left.failovers - 1 },
        });
        take(next, `a standby takes over that has ${length} commits and no slot`);
        if (slot && slot.confirmed <= length)
          take(
            { ...next, slot: { ...slot, reader: NOBODY } },
            `a standby takes over that has ${length} commits, and the slot`,
          );
      }
    }
  }

  function isArriving({ table, visible }: State): boolean {
    return table > 0 && (visible & arrival) === 0;
  }

  function stepsOfFollower(state: State, follower: Follower, i: number, become: Become): void {
    const { slot, holder, log, left, line } = state;
    if (left.deaths > 0 && follower !== IDLE) {
      const after = { ...state, left: { ...left, deaths: left.deaths - 1 } };
      become(released(after, i, true), IDLE, 'a process dies');
      if (slot?.reader === i)
        become({ ...after, slot: { ...slot, reader: NOBODY } }, follower, 'a connection is cut');
    }
    switch (follower.at) {
      case 'idle': {
        if (holder !== i && holder !== NOBODY) return;
        const { position, positionLine, positionTable, table } = state;
        become(
          { ...state, holder: i },
          { ...IDLE, at: 'asked', position, line: positionLine, noted: positionTable, table },
          'a process follows',
        );
        return;
      }
      case 'asked':
        return stepsOfLook(state, follower, become);
      case 'created':
        become(
          withSlot(state),
          { ...follower, at: 'ready', from: log.length, lineHere: line },
          'it creates the slot, after it found the gap',
        );
        return;
      case 'ready': {
        if (!slot || slot.reader !== NOBODY)
          return become(released(state, i), IDLE, 'it cannot read the slot, and ends');
        const isMoved = slot.confirmed > follower.from && has('look-again');
        const isNewGap = isMoved && (has('last-gap') || follower.gap === 'none');
        const next: Follower = {
          ...follower,
          at: 'reading',
          received: slot.confirmed,
          read: follower.from,
          saved: follower.from - 1,
          gap: isNewGap ? 'wanted' : follower.gap,
        };
        const after = isNewGap ? withoutFiller(state, i) : state;
        const step = isMoved ? 'it reads the slot, which was moved meanwhile' : 'it reads the slot';
        become({ ...after, slot: { ...slot, reader: i } }, next, step);
        return;
      }
      case 'reading':
        stepsOfReading(state, follower, i, become);
    }
  }

  function stepsOfLook(state: State, follower: Follower, become: Become): void {
    const { slot, log, line } = state;
    if (!slot) {
      if (!size.creates) return;
      const next: Follower = { ...follower, at: 'ready', from: log.length, lineHere: line };
      if (!has('listen-first'))
        return become(state, { ...next, at: 'created', gap: 'wanted' }, 'it finds no slot');
      const isGap = has('new-slot') || gapOf(state, follower, log.length);
      return become(withSlot(state), { ...next, gap: isGap ? 'wanted' : 'none' }, 'it creates the slot');
    }
    const { confirmed } = slot;
    const gap = gapOf(state, follower, confirmed) ? 'wanted' : 'none';
    const next: Follower = { ...follower, at: 'ready', from: confirmed, lineHere: line, gap };
    become(state, next, gap === 'none' ? 'it finds its slot' : 'it finds a gap');
  }

  function gapOf({ line }: State, follower: Follower, confirmed: number): boolean {
    const { position } = follower;
    if (position === NO_PLACE) return has('no-position');
    if (follower.line !== line && has('same-server')) return true;
    if (follower.noted !== follower.table && has('table-noted')) return true;
    return confirmed > position && has('slot-ahead');
  }

  function stepsOfReading(state: State, follower: Follower, i: number, become: Become): void {
    const { slot, log, left, holder } = state;
    const { queue, received, waiting, read, saved, gap } = follower;
    const isConnected = slot?.reader === i;
    if (isConnected && received < log.length) {
      const row = 1 << (log[received]! - 1);
      const moved = has('own-acknowledging') ? slot : { ...slot, confirmed: received + 1 };
      become(
        { ...state, slot: moved },
        { ...follower, queue: queue | row, received: received + 1 },
        'a commit is received',
      );
    }
    if (queue !== 0)
      become(
        state,
        { ...follower, queue: 0, waiting: waiting | queue, read: Math.max(read, received) },
        'what was received is handled',
      );
    if (isConnected && queue !== 0 && received > read && !has('heartbeat-caught-up'))
      become(state, { ...follower, read: received }, 'a heartbeat is heard');
    if (waiting !== 0) {
      become(withRows(state, waiting), { ...follower, waiting: 0 }, 'what waits is added');
      if (left.deaths > 0) {
        const after = { ...state, left: { ...left, deaths: left.deaths - 1 } };
        if (has('end-on-failure')) become(released(after, i, true), IDLE, 'an add fails, and the feed ends');
        else become(after, { ...follower, waiting: 0 }, 'an add fails, and the feed goes on');
      }
    }
    if (follower.table !== state.table) {
      const next: Follower = { ...follower, table: state.table };
      if (!has('table-looked-at')) become(state, next, 'it looks at the table');
      else become(withoutFiller(state, i), { ...next, gap: 'wanted' }, 'it finds that the table has changed');
    }
    const isAdded = waiting === 0 || !has('add-before-save');
    const isFree = gap === 'none' || !has('gap-holds');
    if (isAdded && isFree && saved < read) {
      if (holder !== i && has('holder-at-save'))
        become(released(state, i), IDLE, 'its note is refused, and it ends');
      else
        become(
          { ...state, position: read, positionLine: follower.lineHere, positionTable: follower.table },
          { ...follower, saved: read },
          `it notes the place ${read}`,
        );
    }
    const told = has('save-before-confirm') || waiting !== 0 ? saved : read;
    if (isConnected && told > slot.confirmed && isFree)
      become(
        { ...state, slot: { ...slot, confirmed: told } },
        follower,
        `it tells Postgres the place ${told}`,
      );
    if (!isConnected || holder !== i) become(released(state, i), IDLE, 'it ends');
  }

  function stepsOfRun(state: State, take: Take): void {
    const { run, lost, left, followers, log, visible, staging, live } = state;
    followers.forEach((follower, i) => {
      if (follower.gap !== 'wanted') return;
      const running = followers.with(i, { ...follower, gap: 'running' });
      if (!run) begin({ ...state, followers: running }, i, 'to fill the gap', take);
      else if (run.by === NOBODY && !has('new-run'))
        take({ ...state, followers: running, run: { ...run, by: i } }, 'it joins the rebuild that runs');
    });
    if (!run) {
      if (lost !== 0) begin(state, NOBODY, 'since the filter is not there', take);
      return;
    }
    if (left.deaths > 0)
      take(withoutRun({ ...state, left: { ...left, deaths: left.deaths - 1 } }), 'the rebuild fails');
    const { at, parts, by } = run;
    switch (at) {
      case 'begun': {
        const read = has('staged-before-scan') ? 0 : visible & numbersOf(parts);
        take(
          {
            ...state,
            staging: read,
            run: { ...run, at: 'staged', seen: log.length, sawArrival: isArriving(state) },
          },
          'the rebuild is staged',
        );
        return;
      }
      case 'staged': {
        const isDrained =
          (committed(log, run.seen) & ~visible) === 0 && !(run.sawArrival && isArriving(state));
        if (!isDrained && has('drain')) return;
        const read = has('staged-before-scan') ? visible & numbersOf(parts) : 0;
        take(
          { ...state, staging: staging! | read, run: { ...run, at: 'scanned', seen: 0, sawArrival: false } },
          'the rebuild reads the source',
        );
        return;
      }
      case 'scanned': {
        const isWhole = parts === ALL_PARTS || !has('whole-for-gap');
        const swapped: State = {
          ...state,
          live: (live & ~numbersOf(parts)) | staging!,
          lost: lost & ~parts,
          staging: undefined,
          run: undefined,
          followers:
            by === NOBODY
              ? followers
              : followers.with(by, { ...followers[by]!, gap: isWhole ? 'none' : 'wanted' }),
        };
        take(swapped, 'the rebuild goes live');
      }
    }
  }

  function begin(state: State, by: number, why: string, take: Take): void {
    const { lost, left } = state;
    if (left.builds === 0) return;
    const spent: State = { ...state, left: { ...left, builds: left.builds - 1 } };
    for (const parts of partsOfRebuilds(lost)) {
      const run: Run = { at: 'begun', by, parts, seen: 0, sawArrival: false };
      take({ ...spent, run }, `a rebuild of ${nameOfParts(parts)} begins ${why}`);
    }
  }

  function stepsOfServer(state: State, take: Take): void {
    const { holder, position, left, lost, live, run } = state;
    if (holder !== NOBODY)
      take({ ...state, holder: NOBODY }, 'the process that follows is not heard for too long');
    if (left.losses === 0) return;
    const spent = { ...state, left: { ...left, losses: left.losses - 1 } };
    if (position !== NO_PLACE)
      take({ ...spent, position: NO_PLACE, positionLine: 0, positionTable: 0 }, 'the place is lost');
    if (position > 0) take({ ...spent, position: position - 1 }, 'an older place is restored');
    for (const part of [1, 2]) {
      if ((lost & part) !== 0) continue;
      const after = run && (run.parts & part) !== 0 ? withoutRun(spent) : spent;
      take({ ...after, lost: lost | part, live: live & ~numbersOf(part) }, `part ${part} is lost`);
    }
  }

  function withRows(state: State, rows: number): State {
    const { live, lost, staging, run } = state;
    return {
      ...state,
      // Where nothing is live the rebuild that has to come reads the rows.
      live: live | (rows & ~numbersOf(lost)),
      staging:
        staging !== undefined && has('both-generations') ? staging | (rows & numbersOf(run!.parts)) : staging,
    };
  }

  function violation({ followers, slot, log, live, lost, visible, table }: State): string | undefined {
    const isAllRead = followers.some(
      ({ at, gap, queue, waiting, received, saved, table: known }, i) =>
        at === 'reading' &&
        known === table &&
        slot?.reader === i &&
        gap === 'none' &&
        queue === 0 &&
        waiting === 0 &&
        received === log.length &&
        saved === log.length,
    );
    if (!isAllRead) return undefined;
    const missing = (committed(log) | (visible & arrival)) & ~live & ~numbersOf(lost);
    return missing === 0 ? undefined : 'a feed that is behind nothing has missed a row, which is absent';
  }

  return { initial, steps, violation, key: keyOf };
}

/** The process reads no more; its rebuild goes on unless it dies. */
function released(state: State, i: number, hasDied = false): State {
  const { slot, holder, run } = state;
  const isRunning = run?.by === i;
  const after = isRunning && hasDied ? withoutRun(state) : state;
  return {
    ...after,
    slot: slot?.reader === i ? { ...slot, reader: NOBODY } : slot,
    // Whoever ends gives up what it holds; of one that dies that expires.
    holder: holder === i && !hasDied ? NOBODY : holder,
    run: isRunning && !hasDied ? { ...run, by: NOBODY } : after.run,
  };
}

/**
 * Everybody's connections to the database end. A process that was reading may still add and note what it has.
 */
function cutOff(state: State): State {
  const followers = state.followers.map((one) => (one.at === 'idle' || one.at === 'reading' ? one : IDLE));
  const isOrphan = state.run !== undefined && state.run.by !== NOBODY && followers[state.run.by] === IDLE;
  return { ...state, followers, run: isOrphan ? { ...state.run!, by: NOBODY } : state.run };
}

function withoutRun(state: State): State {
  const { run, followers } = state;
  if (!run) return state;
  const { by } = run;
  return {
    ...state,
    run: undefined,
    staging: undefined,
    followers: by === NOBODY ? followers : followers.with(by, { ...followers[by]!, gap: 'wanted' }),
  };
}

/** The rebuild by which the process fills a gap runs on, and does not fill the one that it has found now. */
function withoutFiller(state: State, i: number): State {
  const { run } = state;
  return run?.by === i ? { ...state, run: { ...run, by: NOBODY } } : state;
}

function withSlot(state: State): State {
  const { length } = state.log;
  return { ...state, slot: { first: length, confirmed: length, reader: NOBODY } };
}

const system = systemsOf(buildModel);

/** The table of two rows and one process. */
const QUIET = {
  rows: 2,
  followers: 1,
  builds: 2,
  losses: 0,
  hands: 0,
  deaths: 0,
  failovers: 0,
  changes: 0,
  creates: true,
};

export const feed: Protocol<Safety> = {
  name: 'feed',
  safeties: SAFETIES,
  systems: [
    system(
      'two rows, a process that follows, two rebuilds, a death',
      { ...QUIET, deaths: 1 },
      {
        shows: [
          'no-position',
          'listen-first',
          'new-run',
          'gap-holds',
          'add-before-save',
          'heartbeat-caught-up',
          'end-on-failure',
          'both-generations',
          'staged-before-scan',
          'drain',
        ],
        spares: ['save-before-confirm', 'own-acknowledging'],
      },
    ),
    system(
      'two rows, a process that follows, two rebuilds, a loss',
      { ...QUIET, losses: 1 },
      { shows: ['whole-for-gap'] },
    ),
    system(
      'two rows, a process that follows, three rebuilds, two hands at the slot',
      { ...QUIET, hands: 2, builds: 3 },
      { shows: ['slot-ahead', 'look-again', 'last-gap'] },
    ),
    system(
      'two rows, a process that follows, two rebuilds, a standby that takes over',
      { ...QUIET, failovers: 1, creates: false },
      { shows: ['same-server'] },
    ),
    system(
      'a row, a process that follows, three rebuilds, a change of the table, a death',
      { ...QUIET, rows: 1, builds: 3, changes: 1, deaths: 1 },
      { shows: ['table-noted', 'table-looked-at'] },
    ),
    system(
      'two rows, a process that follows, two rebuilds, a hand at the slot',
      { ...QUIET, hands: 1 },
      { spares: ['new-slot'] },
    ),
    system(
      'a row, two processes that may follow, a rebuild, a hand at the slot, a death',
      { ...QUIET, rows: 1, followers: 2, builds: 1, hands: 1, deaths: 1 },
      { spares: ['holder-at-save'] },
    ),
    system(
      'a row, two processes that may follow, two rebuilds, a hand at the slot, a death',
      { ...QUIET, rows: 1, followers: 2, hands: 1, deaths: 1 },
      { isLarge: true },
    ),
    system(
      'two rows, a process that follows, two rebuilds, a loss, a death',
      { ...QUIET, losses: 1, deaths: 1 },
      { isLarge: true },
    ),
  ],
};
