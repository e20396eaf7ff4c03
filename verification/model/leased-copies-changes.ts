import type { Safety } from './leased-copies-safeties.js';
import type { Adder, Build, Grant, Reader, State, Wait } from './leased-copies-state.js';

/** Nothing is known of it. */
export const NO_READER: Reader = {
  copy: undefined,
  next: undefined,
  belief: undefined,
  renewal: undefined,
  acknowledged: undefined,
};

/** Whether every lease that was granted before the wait began is over. */
export function isLeaseOver({ readers }: State, bit: number): boolean {
  return readers.every(
    ({ belief, renewal }) => ((belief?.before ?? 0) & bit) === 0 && ((renewal?.before ?? 0) & bit) === 0,
  );
}

export function begun(state: State, wait: Wait, bit: number): State {
  return wait.for === 'nothing' || wait.for === 'sight' ? state : began(state, bit);
}

/** A wait has begun: the leases that are out were granted before it. */
export function began(state: State, bit: number): State {
  const mark = <Of extends Grant>(grant: Of | undefined) => grant && { ...grant, before: grant.before | bit };
  const readers = state.readers.map((reader) => ({
    ...reader,
    belief: mark(reader.belief),
    renewal: mark(reader.renewal),
  }));
  return { ...state, readers };
}

export function ended(state: State, bit: number): State {
  const clear = <Of extends Grant>(grant: Of | undefined) =>
    grant && { ...grant, before: grant.before & ~bit };
  const readers = state.readers.map((reader) => ({
    ...reader,
    belief: clear(reader.belief),
    renewal: clear(reader.renewal),
  }));
  return { ...state, readers };
}

/**
 * The first lease makes the metadata know of leases. Where what is live came from another server, nobody
 * knows who has others: readers of the new list were lost.
 */
export function granted(state: State, has: (safety: Safety) => boolean): State {
  const isLost = state.unknown === 'restored' && has('same-server');
  const known = state.unknown === 'no' ? state : withoutSights(state);
  return { ...known, isLeaseOut: true, isListLost: state.isListLost || isLost, unknown: 'no' };
}

/** Other metadata: what a process has seen of those before counts no more. */
export function withoutSights(state: State): State {
  const { adders, build } = state;
  return {
    ...state,
    adders: adders.map((adder) => ({ ...adder, hasSeen: false })),
    build: { ...build, hasSeen: false },
  };
}

export function dropped({ acknowledged }: Reader): Reader {
  return { ...NO_READER, acknowledged };
}

export function droppedBy(adder: Adder): Adder {
  return adder.at === 'start' ? adder : { ...adder, isDropped: true };
}

/** A run whose staging is gone begins again, as long as it may. */
export function interrupted(build: Build): Build {
  const isUnderWay = build.at === 'staged' || build.at === 'scanned';
  return isUnderWay ? { ...build, at: 'start', hasRow: false } : build;
}

export function generationAfter({ live, readers, entries }: State): number {
  const known = [live?.generation ?? 0, ...readers.map(({ copy }) => copy?.generation ?? 0)];
  return Math.max(...known, ...entries.map(({ generation }) => generation)) + 1;
}

export function withReader(state: State, i: number, reader: Reader): State {
  return { ...state, readers: replaced(state.readers, i, reader) };
}

export function replaced<Element>(list: readonly Element[], i: number, element: Element): readonly Element[] {
  const copy = list.slice();
  copy[i] = element;
  return copy;
}
