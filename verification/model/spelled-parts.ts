import { type Model, type Protocol, systemsOf } from './model.js';

/**
 * One id in a filter of two parts, to processes of two spellings: the id spelled in the first way is in the
 * first part, and in the second way in the second. Each part has metadata of its own. The first part keeps
 * the epoch: whose spelling counts, if any, and whether generations of earlier epochs are still being ended.
 */
const SAFETIES = {
  'epoch-after':
    'a generation is used when the epoch, read after the description, is the one it was built in',
  'new-epoch':
    'each change of the spelling begins an epoch, and generations of earlier ones are never used again',
  'look-at-epoch':
    'an add to a part where nothing of its own is live looks at the epoch before it is acknowledged',
  'end-all': 'whoever begins an epoch ends what is live and staged in every part',
  'see-ending': 'an epoch counts for nothing until all parts have been ended',
  'epoch-before-staging': 'a rebuild stages in an epoch of its own spelling',
} as const;

type Safety = keyof typeof SAFETIES;
type Spelling = 0 | 1;
/**
 * In an epoch in which nothing is built, adds of all processes count on a rebuild that begins the next one.
 */
const NOBODY = 2;

interface Epoch {
  readonly number: number;
  readonly spelling: Spelling | typeof NOBODY;
  readonly isEnding: boolean;
}

interface Generation {
  /** Names it. */
  readonly tag: number;
  readonly epoch: number;
  readonly spelling: Spelling;
  readonly hasId: boolean;
}

interface Part {
  readonly live: Generation | undefined;
  readonly staging: Generation | undefined;
}

/** What an adder, or a rebuilder, does while it begins an epoch: which parts are ended. */
interface Change {
  readonly epoch: number;
  readonly ended: number;
}

interface Adder {
  readonly spelling: Spelling;
  readonly at: 'start' | 'described' | 'compared' | 'written' | 'acknowledged' | 'committed';
  /** Tags of its part that it uses; 0 for none. */
  readonly live: number;
  readonly staging: number;
  /** The live generation whose epoch it has compared once: it does not compare it again. */
  readonly known: number;
  /** As the description says, before the epoch is read. */
  readonly found: { readonly live: number; readonly staging: number } | undefined;
  readonly change: Change | undefined;
}

interface Rebuilder {
  readonly spelling: Spelling;
  readonly at: 'start' | 'begun' | 'published' | 'drained' | 'read' | 'ended';
  readonly epoch: number;
  readonly tag: number;
  /** Parts that were published, merged or swapped: bits. */
  readonly done: number;
  readonly hasRow: boolean;
  /**
   * Adds that were called before all parts were published: the drain is longer than the time from there to
   * their rows. Bits.
   */
  readonly waits: number;
  readonly change: Change | undefined;
}

interface Reader {
  readonly spelling: Spelling;
  /** The generation that it answers from; 0 for none. */
  readonly tag: number;
  /** The generation that it has found, and whose epoch it is about to compare. */
  readonly found: { readonly tag: number; readonly epoch: number } | undefined;
  /** The epoch that it has read before the description, without 'epoch-after'. */
  readonly epoch: Epoch | undefined;
}

interface State {
  readonly epoch: Epoch;
  readonly parts: readonly [Part, Part];
  readonly adders: readonly Adder[];
  readonly rebuilders: readonly Rebuilder[];
  readonly readers: readonly Reader[];
  readonly nextEpoch: number;
  readonly nextTag: number;
}

interface Size {
  readonly adders: readonly Spelling[];
  readonly rebuilders: readonly Spelling[];
  readonly readers: readonly Spelling[];
  /** More of them are not explored. */
  readonly epochs: number;
}

type Take = (next: State, step: string) => void;

const BOTH = 0b11;

function buildModel(size: Size, without: Safety | undefined): Model<State> {
  const has = (safety: Safety) => safety !== without;

  const initial: State = {
    epoch: { number: 1, spelling: 0, isEnding: false },
    parts: [
      { live: { tag: 1, epoch: 1, spelling: 0, hasId: false }, staging: undefined },
      { live: { tag: 1, epoch: 1, spelling: 0, hasId: false }, staging: undefined },
    ],
    adders: size.adders.map((spelling) => ({
      spelling,
      at: 'start' as const,
      live: 0,
      staging: 0,
      known: 0,
      found: undefined,
      change: undefined,
    })),
    rebuilders: size.rebuilders.map((spelling) => ({ spelling, ...NOT_BEGUN })),
    readers: size.readers.map((spelling) => ({ spelling, tag: 0, found: undefined, epoch: undefined })),
    nextEpoch: 2,
    nextTag: 2,
  };

  const isUsable = (epoch: Epoch, spelling: Spelling, generation: Generation) =>
    epoch.spelling === spelling &&
    generation.spelling === spelling &&
    (epoch.number === generation.epoch || !has('new-epoch'));
  const hasBegun = ({ isEnding }: Epoch) => !(isEnding && has('see-ending'));

  function steps(state: State, take: Take): void {
    state.readers.forEach((reader, i) => stepsOfReader(state, reader, i, take));
    state.adders.forEach((adder, i) => stepsOfAdder(state, adder, i, take));
    state.rebuilders.forEach((rebuilder, i) => stepsOfRebuilder(state, rebuilder, i, take));
  }

  function stepsOfReader(state: State, reader: Reader, i: number, take: Take): void {
    const { epoch } = state;
    const { live } = state.parts[reader.spelling];
    const become = (next: Partial<Reader>, step: string) =>
      take({ ...state, readers: replaced(state.readers, i, { ...reader, ...next }) }, step);
    const compare = (generation: Generation, then: Epoch) =>
      become(
        {
          tag: isUsable(then, reader.spelling, generation) ? generation.tag : 0,
          found: undefined,
          epoch: undefined,
        },
        'a reader compares the epoch',
      );
    if (has('epoch-after')) {
      if (live && !reader.found && reader.tag !== live.tag)
        become({ tag: 0, found: { tag: live.tag, epoch: live.epoch } }, 'a reader reads the description');
      if (reader.found)
        compare({ ...reader.found, spelling: spellingOfTag(state, reader), hasId: false }, epoch);
    } else {
      if (!reader.epoch) become({ epoch }, 'a reader reads the epoch');
      if (reader.epoch && live) compare(live, reader.epoch);
    }
  }

  /** The spelling of a generation is part of its description. */
  function spellingOfTag({ parts }: State, { spelling, found }: Reader): Spelling {
    const { live } = parts[spelling];
    // One that is gone by now answers nothing.
    return live?.tag === found?.tag ? live!.spelling : spelling;
  }

  /** One step of beginning an epoch; undefined when that is done. */
  function changed(
    state: State,
    spelling: Spelling,
    change: Change,
  ): { state: State; change: Change | undefined } {
    const { epoch, parts } = state;
    // Another process has begun an epoch.
    if (epoch.number !== change.epoch) return { state, change: undefined };
    const next = [0, 1].find((part) => (change.ended & (1 << part)) === 0);
    if (next === undefined)
      return { state: { ...state, epoch: { ...epoch, isEnding: false } }, change: undefined };
    const ended = change.ended | (1 << next);
    if (!has('end-all') && next !== spelling) return { state, change: { ...change, ended } };
    const keep = (generation: Generation | undefined) =>
      generation && isUsable(epoch, spelling, generation) ? generation : undefined;
    const part: Part = { live: keep(parts[next]!.live), staging: keep(parts[next]!.staging) };
    return { state: { ...state, parts: withPart(parts, next, part) }, change: { ...change, ended } };
  }

  function begun(state: State, spelling: Epoch['spelling']): { state: State; change: Change } | undefined {
    const { epoch, nextEpoch } = state;
    // Another process died while it ended the parts: this one goes on.
    if (epoch.spelling === spelling) return { state, change: { epoch: epoch.number, ended: 0 } };
    if (nextEpoch > size.epochs) return undefined;
    const number = has('new-epoch') ? nextEpoch : 1 + spelling;
    return {
      state: { ...state, epoch: { number, spelling, isEnding: true }, nextEpoch: nextEpoch + 1 },
      change: { epoch: number, ended: 0 },
    };
  }

  function stepsOfAdder(state: State, adder: Adder, i: number, take: Take): void {
    const { spelling, at, change } = adder;
    const { epoch, parts } = state;
    const own = parts[spelling];
    const become = (from: State, next: Partial<Adder>, step: string) => {
      // An add that starts over counts as one that is called later: its row may take longer.
      const rebuilders =
        next.at === 'start'
          ? from.rebuilders.map((one) => ({ ...one, waits: one.waits & ~(1 << i) }))
          : from.rebuilders;
      take({ ...from, rebuilders, adders: replaced(from.adders, i, { ...adder, ...next }) }, step);
    };
    if (change) {
      const after = changed(state, spelling, change);
      return become(after.state, { change: after.change }, 'an adder ends what others have built');
    }
    switch (at) {
      case 'start':
        become(
          state,
          { at: 'described', found: { live: own.live?.tag ?? 0, staging: own.staging?.tag ?? 0 } },
          'an adder reads the description',
        );
        return;
      case 'described': {
        // Reads the epoch, for the generations that it has found.
        const use = (generation: Generation | undefined, tag: number) =>
          generation?.tag === tag && (tag === adder.known || isUsable(epoch, spelling, generation)) ? tag : 0;
        const live = use(own.live, adder.found!.live);
        const staging = use(own.staging, adder.found!.staging);
        if (live === adder.found!.live && staging === adder.found!.staging)
          return become(
            state,
            { at: 'compared', live, staging, known: live, found: undefined },
            'an adder compares epochs',
          );
        const ended: Part = {
          live: live === 0 && own.live?.tag === adder.found!.live ? undefined : own.live,
          staging: staging === 0 && own.staging?.tag === adder.found!.staging ? undefined : own.staging,
        };
        return become(
          { ...state, parts: withPart(parts, spelling, ended) },
          { ...ANEW },
          'an adder ends what others have built in its part',
        );
      }
      case 'compared': {
        const isStale = (own.live?.tag ?? 0) !== adder.live || (own.staging?.tag ?? 0) !== adder.staging;
        if (isStale) return become(state, { ...ANEW }, 'an add is stale');
        const written: Part = {
          live: own.live && { ...own.live, hasId: true },
          staging: own.staging && { ...own.staging, hasId: true },
        };
        const isSure = adder.live !== 0 || !has('look-at-epoch');
        become(
          { ...state, parts: withPart(parts, spelling, written) },
          { ...ANEW, at: isSure ? 'acknowledged' : 'written' },
          isSure ? 'an add is acknowledged' : 'an add finds nothing live',
        );
        return;
      }
      case 'written': {
        const isOfOthers = epoch.spelling !== spelling && epoch.spelling !== NOBODY;
        if (!isOfOthers && hasBegun(epoch))
          return become(state, { at: 'acknowledged' }, 'an add is acknowledged');
        const first = begun(state, isOfOthers ? NOBODY : epoch.spelling);
        if (first) become(first.state, { change: first.change }, 'an adder begins an epoch');
        return;
      }
      case 'acknowledged':
        become(state, { at: 'committed' }, 'a row is committed');
        return;
      case 'committed':
    }
  }

  function stepsOfRebuilder(state: State, rebuilder: Rebuilder, i: number, take: Take): void {
    const { spelling, at, tag, done, hasRow, waits, change } = rebuilder;
    const { epoch, parts, adders } = state;
    const become = (from: State, next: Partial<Rebuilder>, step: string) =>
      take({ ...from, rebuilders: replaced(from.rebuilders, i, { ...rebuilder, ...next }) }, step);
    if (change) {
      const after = changed(state, spelling, change);
      return become(after.state, { change: after.change }, 'a rebuilder ends what others have built');
    }
    const left = [0, 1].filter((part) => (done & (1 << part)) === 0);
    switch (at) {
      case 'start': {
        if ((epoch.spelling === spelling && hasBegun(epoch)) || !has('epoch-before-staging')) {
          const begunIn = { at: 'begun', epoch: epoch.number, tag: state.nextTag } as const;
          become({ ...state, nextTag: state.nextTag + 1 }, begunIn, 'a rebuilder reads the epoch');
          return;
        }
        const first = begun(state, spelling);
        if (first) become(first.state, { change: first.change }, 'a rebuilder begins an epoch');
        return;
      }
      case 'begun':
        for (const part of left) {
          const staging = { tag, epoch: rebuilder.epoch, spelling, hasId: false };
          const next = done | (1 << part);
          become(
            { ...state, parts: withPart(parts, part, { ...parts[part]!, staging }) },
            next === BOTH ? { at: 'published', done: 0, waits: calledIn(adders) } : { done: next },
            'the staging of a part is published',
          );
        }
        return;
      case 'published':
        if (adders.every(({ at: there }, adder) => (waits & (1 << adder)) === 0 || there === 'committed'))
          become(state, { at: 'drained', waits: 0 }, 'the drain is over');
        return;
      case 'drained':
        become(
          state,
          { at: 'read', hasRow: adders.some(({ at: there }) => there === 'committed') },
          'the source is read',
        );
        return;
      case 'read':
        for (const part of left) {
          const { staging } = parts[part]!;
          const next = done | (1 << part);
          const after = next === BOTH ? { ...ENDED } : { done: next };
          if (staging?.tag !== tag) {
            become(state, after, 'a part is given up');
            continue;
          }
          const hasId = staging.hasId || (hasRow && part === spelling);
          const swapped: Part = { live: { ...staging, hasId }, staging: undefined };
          become({ ...state, parts: withPart(parts, part, swapped) }, after, 'a part is swapped in');
        }
        return;
      case 'ended':
    }
  }

  function violation({ adders, parts, readers }: State): string | undefined {
    if (!adders.some(({ at }) => at === 'acknowledged' || at === 'committed')) return undefined;
    for (const { spelling, tag } of readers) {
      const { live } = parts[spelling];
      if (tag !== 0 && live?.tag === tag && !live.hasId)
        return 'a reader answers "absent" for an id that is promised';
    }
    return undefined;
  }

  return { initial, steps, violation, key: keyOf };
}

const ANEW = { at: 'start', live: 0, staging: 0, found: undefined, change: undefined } as const;
const NOT_BEGUN = {
  at: 'start',
  epoch: 0,
  tag: 0,
  done: 0,
  hasRow: false,
  waits: 0,
  change: undefined,
} as const;
const ENDED = { ...NOT_BEGUN, at: 'ended' } as const;

function calledIn(adders: readonly Adder[]): number {
  return adders.reduce((bits, { at }, i) => bits | (at === 'start' || at === 'committed' ? 0 : 1 << i), 0);
}

function withPart(parts: State['parts'], i: number, part: Part): State['parts'] {
  return i === 0 ? [part, parts[1]] : [parts[0], part];
}

function replaced<Element>(list: readonly Element[], i: number, element: Element): readonly Element[] {
  const copy = list.slice();
  copy[i] = element;
  return copy;
}

function keyOf({ epoch, parts, adders, rebuilders, readers, nextEpoch, nextTag }: State): string {
  return JSON.stringify([
    Object.values(epoch),
    parts.map(({ live, staging }) => [live, staging].map((one) => one && Object.values(one))),
    adders,
    rebuilders.map((one) => JSON.stringify(one)).sort(),
    readers.map((one) => JSON.stringify(one)).sort(),
    nextEpoch,
    nextTag,
  ]);
}

const system = systemsOf(buildModel);

export const spelledParts: Protocol<Safety> = {
  name: 'spelled-parts',
  safeties: SAFETIES,
  systems: [
    system(
      'two adders and a rebuilder of one spelling, a reader of the other',
      { adders: [1, 1], rebuilders: [1], readers: [0], epochs: 3 },
      { shows: ['end-all', 'look-at-epoch', 'see-ending'] },
    ),
    system(
      'an adder of one spelling, a rebuilder of each, a reader of the other',
      { adders: [1], rebuilders: [0, 1], readers: [0], epochs: 4 },
      { shows: ['epoch-after'], spares: ['epoch-before-staging'] },
    ),
    system(
      'an adder and a rebuilder of one spelling, two rebuilders and a reader of the other',
      { adders: [1], rebuilders: [0, 0, 1], readers: [0], epochs: 3 },
      { shows: ['new-epoch'], isLarge: true },
    ),
    system(
      'an adder, a rebuilder and a reader of each spelling',
      { adders: [0, 1], rebuilders: [0, 1], readers: [0, 1], epochs: 3 },
      { isLarge: true },
    ),
  ],
};
