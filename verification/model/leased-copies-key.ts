import {
  bitOfAdder,
  COMMIT,
  type Grant,
  type Reader,
  SIGHT,
  sightOfAdder,
  STAGING,
  type State,
  type Wait,
} from './leased-copies-state.js';

const ADDER_AT = { start: 0, waiting: 1, acknowledged: 2, committed: 3 };
const BUILD_AT = { start: 0, staged: 1, scanned: 2, waiting: 3, ended: 4 };
/** That for readers comes last: entry and list are added to it. */
const WAIT_FOR = { nothing: 0, lease: 1, sight: 2, readers: 3 };
const UNKNOWN = { no: 0, restored: 1, swapped: 2 };

/** Filled anew for each state: a list that is spread into a call costs more than all else. */
const codes: number[] = [];

/**
 * Leaves out what nothing can depend on any more, and counts from the oldest entry and generation that
 * somebody may still meet: which numbers they have is no matter, only which are the same and which come
 * later.
 */
export function keyOf(state: State): string {
  const { live, staging, build, left, readers, entries, adders } = state;
  const first = firstEntry(state);
  const last = entries.length - first;
  const names = [0];
  const nameOf = (generation: number) => {
    const known = names.indexOf(generation);
    return known > 0 ? known : names.push(generation) - 1;
  };
  // In the order of entries, which is the same for all readers.
  const ahead = entries
    .slice(first)
    .map(
      (entry) => 2 * nameOf(entry.generation) + Number(entry.isAdd) + 32 * keyOfStaging(state, entry.staging),
    );
  const mayRead = build.runsLeft > 0 || build.at === 'staged';
  let at = 0;
  codes[at++] = live ? 1 + 2 * nameOf(live.generation) + Number(live.hasId) : 0;
  codes[at++] = staging === undefined ? 0 : 1 + Number(staging);
  codes[at++] = last + 16 * Math.max(0, state.trimmed - first);
  codes[at++] =
    Number(state.isListLost) +
    2 * Number(state.isLeaseOut) +
    4 * Number(state.isImported && mayRead) +
    8 * Number(state.isRowLive) +
    16 * Number(state.isAnnounced) +
    32 * UNKNOWN[state.unknown];
  codes[at++] =
    BUILD_AT[build.at] + 8 * Number(build.hasRow) + 16 * Number(build.hasSeen) + 32 * build.runsLeft;
  codes[at++] = keyOfWait(state, build.wait, first);
  codes[at++] = left.losses + 16 * left.others;
  for (const code of ahead) codes[at++] = code;
  codes[at++] = 255;
  const codesOfAdders = adders.map((adder) => {
    const isRead = adder.at === 'committed' && !mayRead;
    return (
      ADDER_AT[isRead ? 'acknowledged' : adder.at] +
      4 * Number(adder.isStaged && build.at === 'staged' && adder.at !== 'committed') +
      8 * Number(adder.isDropped) +
      16 * Number(adder.hasSeen) +
      32 * keyOfWait(state, adder.wait, first)
    );
  });
  const order = adders.map((_, i) => i).sort((x, y) => codesOfAdders[x]! - codesOfAdders[y]!);
  for (const i of order) codes[at++] = codesOfAdders[i]!;
  codes.length = at;
  const text = String.fromCharCode.apply(undefined, codes);
  // Generations of which no entry is ahead get their names from the oldest on, whoever has a copy of them.
  const old = readers.map(({ copy }) => copy?.generation ?? 0).filter((generation) => generation > 0);
  for (const generation of old.sort((x, y) => x - y)) nameOf(generation);
  // A generation that is live goes on to be, so that no swap waits for the leases that are out.
  const isSwapFree = live && left.losses === 0 && state.unknown === 'no';
  const kept = COMMIT + (isSwapFree ? 0 : STAGING) + (hasSight(build) ? SIGHT : 0);
  const marksOf = ({ before }: Grant) =>
    order.reduce(
      (marks, from, to) =>
        marks +
        (before & bitOfAdder(from) ? bitOfAdder(to) : 0) +
        (before & sightOfAdder(from) && hasSight(adders[from]!) ? sightOfAdder(to) : 0),
      before & kept,
    );
  const keyOfOne = (reader: Reader) => keyOfReader(state, reader, first, marksOf, nameOf);
  if (readers.length === 1) return text + keyOfOne(readers[0]!);
  return text + readers.map(keyOfOne).sort().join('');
}

/** 0 for a staging that is gone: nobody can go on with a copy of it. */
function keyOfStaging({ staging, build, entries, live }: State, of: number | undefined): number {
  if (of === undefined) return 0;
  const isKnown =
    (staging !== undefined && of === build.runsLeft) ||
    of === live?.staging ||
    entries.some((entry) => !entry.isAdd && entry.staging === of);
  return isKnown ? 1 + of : 0;
}

/** Whether anything depends on when its process first saw that the metadata know of no lease. */
function hasSight({ hasSeen, wait }: { readonly hasSeen: boolean; readonly wait: Wait }): boolean {
  return hasSeen || wait.for === 'sight';
}

/** The first of the entries that are compared with anything. */
function firstEntry({ entries, readers, adders, build }: State): number {
  let first = entries.length;
  const meet = (number: number | undefined) => {
    if (number !== undefined && number < first) first = number;
  };
  for (const { copy, renewal, acknowledged } of readers) {
    meet(copy?.applied);
    meet(renewal?.number);
    meet(acknowledged);
  }
  for (const { wait } of adders) if (wait.for === 'readers') meet(wait.entry);
  if (build.wait.for === 'readers') meet(build.wait.entry);
  return first;
}

function keyOfWait(state: State, wait: Wait, first: number): number {
  if (wait.for !== 'readers') return WAIT_FOR[wait.for];
  const isSame = Number(wait.list === state.list) + 2 * Number(wait.feed === state.feed);
  return WAIT_FOR.readers + 4 * (wait.entry - first + 8 * isSame);
}

function keyOfReader(
  state: State,
  { copy, next, belief, renewal, acknowledged }: Reader,
  first: number,
  marksOf: (grant: Grant) => number,
  nameOf: (generation: number) => number,
): string {
  return String.fromCharCode(
    copy
      ? 1 +
          nameOf(copy.generation) * 4 +
          2 * Number(copy.hasId) +
          Number(copy.isLoading) +
          64 * (copy.applied - first + 16 * Number(copy.feed === state.feed))
      : 0,
    next ? 1 + Number(next.hasId) + 2 * Number(next.isLoading) + 4 * keyOfStaging(state, next.staging) : 0,
    (belief ? 1 + marksOf(belief) : 0) + 256 * (renewal ? 1 + marksOf(renewal) : 0),
    (renewal ? renewal.number - first : 0) + 16 * (acknowledged === undefined ? 0 : 1 + acknowledged - first),
  );
}
