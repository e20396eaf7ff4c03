import { type Model, type Protocol, systemsOf } from './model.js';

/**
 * The rebuild for one id: adders, rebuilders that may die or lose their lease at any step, readers, a server
 * that evicts keys or restarts from a snapshot. Processes may spell the id in two ways. A step is one script
 * of the server, or one look of a process at what it knows.
 */
const SAFETIES = {
  'tag-compare': 'an answer counts when the block has the tag that its place was computed for',
  'server-of-answer': 'an answer counts when its server is the one that the description was read from',
  suspect: 'a filter that went live on another run of the server is taken offline',
  'meta-guard': 'a process that finds no metadata takes the filter offline',
  'pending-compare': 'an add refuses to run when another staging is published than its caller knows',
  'dual-write': 'an add writes to the live generation and to the staged one',
  drain: 'the source is read when the rows of all adds that the staging lacks are visible',
  'or-merge': 'what was read is merged into the staging with OR',
  'staging-there': 'a merge, and an add, never create a staging again that is gone',
  'merge-token': 'a merge is refused without the lease',
  'token-at-swap': 'a swap compares the token of the staging in the metadata, and the lease',
  'server-at-swap': 'a swap runs on the server that the generation was staged on',
  'spelling-of-answer': 'an answer counts when the generation spells ids as the process that asks',
  'spelling-at-add': 'an add takes a live generation that spells otherwise offline before it is acknowledged',
  'spelling-at-staging': 'an add withdraws a staging that spells otherwise before it is acknowledged',
} as const;

type Safety = keyof typeof SAFETIES;

/** How a process, or a generation, spells the id. A generation holds a sum of them: 3 is both. */
type Spelling = 1 | 2;
type Spellings = 0 | Spelling | 3;

/** A tag is the token of the rebuild that made the generation; 0 where none is live. */
interface Meta {
  readonly tag: number;
  readonly pending: number;
  /** Run of the server on which the generation went live. */
  readonly run: number;
}

interface Server {
  readonly run: number;
  readonly live: { readonly tag: number; readonly holds: Spellings } | undefined;
  readonly meta: Meta | undefined;
  /** By token, from 1: how a staged generation has the id. */
  readonly stagings: readonly (Spellings | undefined)[];
  readonly lease: number;
}

interface Adder {
  readonly spelling: Spelling;
  readonly at: 'start' | 'described' | 'acknowledged' | 'committed';
  readonly tag: number;
  /** The staging that it knows; once it is acknowledged, the one that was published when it ran. */
  readonly pending: number;
  /** Whether a `reset()` that was staged after it has dropped the id. */
  readonly isDropped: boolean;
}

interface Rebuilder {
  readonly spelling: Spelling;
  readonly at: 'start' | 'leased' | 'staged' | 'published' | 'drained' | 'read' | 'merged' | 'ended';
  readonly token: number;
  readonly run: number;
  readonly hasRow: boolean;
}

interface Reader {
  readonly spelling: Spelling;
  /** 0: it knows no description. */
  readonly tag: number;
  readonly run: number;
}

interface State extends Server {
  readonly adders: readonly Adder[];
  readonly rebuilders: readonly Rebuilder[];
  readonly readers: readonly Reader[];
  readonly nextToken: number;
  /** By token, from 1: how the generation spells ids. */
  readonly spellings: readonly Spelling[];
  readonly snapshot: Server | undefined;
  readonly left: { readonly losses: number; readonly snapshots: number };
}

interface Size {
  readonly adders: number;
  readonly rebuilders: number;
  readonly readers: number;
  readonly losses: number;
  readonly snapshots: number;
  /** Without one, a rebuild is a `reset()`. */
  readonly hasSource: boolean;
  /** Every second actor of a kind spells the id otherwise. */
  readonly spellings?: 2;
}

type Take = (next: State, step: string) => void;

const NO_DESCRIPTION = { tag: 0, run: 0 };

function buildModel(size: Size, without: Safety | undefined): Model<State> {
  const has = (safety: Safety) => safety !== without;

  const spellingOf = (actor: number): Spelling => (size.spellings && actor % 2 === 1 ? 2 : 1);

  const initial: State = {
    run: 1,
    live: { tag: 1, holds: 0 },
    meta: { tag: 1, pending: 0, run: 1 },
    stagings: [],
    lease: 0,
    adders: Array.from({ length: size.adders }, (_, i) => ({
      spelling: spellingOf(i),
      at: 'start' as const,
      tag: 0,
      pending: 0,
      isDropped: false,
    })),
    rebuilders: Array.from({ length: size.rebuilders }, (_, i) => ({
      spelling: spellingOf(i),
      at: 'start' as const,
      token: 0,
      run: 0,
      hasRow: false,
    })),
    readers: Array.from({ length: size.readers }, (_, i) => ({ spelling: spellingOf(i), ...NO_DESCRIPTION })),
    nextToken: 2,
    spellings: [1, 1],
    snapshot: undefined,
    left: { losses: size.losses, snapshots: size.snapshots },
  };

  function steps(state: State, take: Take): void {
    state.readers.forEach((reader, i) => stepsOfReader(state, reader, i, take));
    state.adders.forEach((adder, i) => stepsOfAdder(state, adder, i, take));
    state.rebuilders.forEach((rebuilder, i) => stepsOfRebuilder(state, rebuilder, i, take));
    stepsOfServer(state, take);
  }

  function stepsOfReader(state: State, reader: Reader, i: number, take: Take): void {
    const { meta, live, run } = state;
    const become = (from: State, next: Omit<Reader, 'spelling'>, step: string) =>
      take({ ...from, readers: replaced(from.readers, i, { ...reader, ...next }) }, step);
    if (meta && meta.tag !== 0) {
      if (meta.run !== run && has('suspect'))
        become(offline(state), NO_DESCRIPTION, 'a reader finds the filter suspect');
      else if (state.spellings[meta.tag] !== reader.spelling && has('spelling-of-answer'))
        become(state, NO_DESCRIPTION, 'a reader finds another spelling');
      else become(state, { tag: meta.tag, run }, 'a reader reads the description');
    }
    // The block is not there, or another one, and the description names it all the same.
    if (reader.tag !== 0 && reader.run === run && live?.tag !== reader.tag && meta?.tag === reader.tag) {
      become(offline(state), NO_DESCRIPTION, 'a reader takes the filter offline');
    }
  }

  function stepsOfAdder(state: State, adder: Adder, i: number, take: Take): void {
    const { meta, live, stagings } = state;
    const become = (from: State, next: Adder, step: string) =>
      take({ ...from, adders: replaced(from.adders, i, next) }, step);
    switch (adder.at) {
      case 'start':
        if (meta) {
          const next: Adder = { ...adder, at: 'described', tag: meta.tag, pending: meta.pending };
          become(state, next, 'an adder reads the description');
        } else if (has('meta-guard')) become(offline(state), adder, 'an adder takes the filter offline');
        else become({ ...state, meta: noMeta(state) }, adder, 'an adder writes new metadata');
        return;
      case 'described': {
        const isStale =
          !meta || meta.tag !== adder.tag || (has('pending-compare') && meta.pending !== adder.pending);
        if (isStale) return become(state, startAgain(adder), 'an add is stale');
        const spellsOtherwise = (token: number) => token !== 0 && state.spellings[token] !== adder.spelling;
        if (spellsOtherwise(adder.pending) && has('spelling-at-staging')) {
          const withdrawn = { ...state, meta: { ...meta, pending: 0 } };
          return become(withdrawn, startAgain(adder), 'an adder withdraws a staging');
        }
        if (spellsOtherwise(adder.tag) && has('spelling-at-add')) {
          // Without a source the add is rejected, and the filter stays as it is.
          if (!size.hasSource) return;
          return become(offline(state), startAgain(adder), 'an adder takes the filter offline');
        }
        if (adder.tag === 0 && !size.hasSource) return;
        if (adder.tag !== 0 && live?.tag !== adder.tag) {
          return become(offline(state), startAgain(adder), 'an adder takes the filter offline');
        }
        const isStaged =
          adder.pending !== 0 &&
          has('dual-write') &&
          (stagings[adder.pending] !== undefined || !has('staging-there'));
        const isGone = adder.pending !== 0 && stagings[adder.pending] === undefined;
        const written: State = {
          ...state,
          live: adder.tag === 0 ? live : { tag: adder.tag, holds: both(live?.holds, adder.spelling) },
          stagings: isStaged
            ? replaced(stagings, adder.pending, both(stagings[adder.pending], adder.spelling))
            : stagings,
          meta: isGone && has('staging-there') ? { ...meta, pending: 0 } : meta,
        };
        become(written, { ...adder, at: 'acknowledged', tag: 0 }, 'an add is acknowledged');
        return;
      }
      case 'acknowledged':
        if (size.hasSource) become(state, { ...adder, at: 'committed', pending: 0 }, 'a row is committed');
        return;
      case 'committed':
    }
  }

  function stepsOfRebuilder(state: State, rebuilder: Rebuilder, i: number, take: Take): void {
    const { meta, stagings, lease, run, adders } = state;
    const { at, token } = rebuilder;
    const become = (from: State, next: Rebuilder, step: string) =>
      take({ ...from, rebuilders: replaced(from.rebuilders, i, next) }, step);
    if (at !== 'start' && at !== 'ended') become(state, { ...rebuilder, ...ENDED }, 'a rebuilder ends');
    switch (at) {
      case 'start':
        if (lease !== 0) return;
        become(
          {
            ...state,
            lease: state.nextToken,
            nextToken: state.nextToken + 1,
            spellings: replaced(state.spellings, state.nextToken, rebuilder.spelling),
          },
          { ...rebuilder, at: 'leased', token: state.nextToken },
          'a rebuilder takes the lease',
        );
        return;
      case 'leased':
        become(
          { ...state, stagings: replaced(stagings, token, 0) },
          { ...rebuilder, at: 'staged', run },
          'a rebuilder stages',
        );
        return;
      case 'staged': {
        if (lease !== token || rebuilder.run !== run) return;
        const before = meta || !has('meta-guard') ? state : offline(state);
        const published = { ...(meta ?? noMeta(state)), pending: token };
        become({ ...before, meta: published }, { ...rebuilder, at: 'published' }, 'a staging is published');
        return;
      }
      case 'published': {
        // Rows of adds that began before are visible when the drain is over, and those of later adds that the
        // staging has need not be.
        const isDrained = adders.every(({ at: there }) => there !== 'acknowledged');
        if (size.hasSource && has('drain') && !isDrained) return;
        become(state, { ...rebuilder, at: 'drained' }, 'the drain is over');
        return;
      }
      case 'drained': {
        const hasRow = size.hasSource && adders.some(({ at: there }) => there === 'committed');
        become(state, { ...rebuilder, at: 'read', hasRow }, 'the source is read');
        return;
      }
      case 'read': {
        if (lease !== token && has('merge-token')) return;
        const staged = stagings[token];
        if (staged === undefined && has('staging-there')) return;
        const scanned: Spellings = rebuilder.hasRow ? rebuilder.spelling : 0;
        const merged = has('or-merge') ? both(staged, scanned) : scanned;
        become(
          { ...state, stagings: replaced(stagings, token, merged) },
          { ...rebuilder, at: 'merged' },
          'what was read is merged',
        );
        return;
      }
      case 'merged': {
        const hasToken = (lease === token && meta?.pending === token) || !has('token-at-swap');
        const isSameServer = rebuilder.run === run || !has('server-at-swap');
        const staged = stagings[token];
        if (!hasToken || !isSameServer || staged === undefined) return;
        become(
          {
            ...state,
            live: { tag: token, holds: staged },
            meta: { tag: token, pending: 0, run: rebuilder.run },
            stagings: replaced(stagings, token, undefined),
            lease: lease === token ? 0 : lease,
            adders: size.hasSource ? adders : adders.map((adder) => afterReset(adder, token)),
          },
          { ...rebuilder, ...ENDED },
          'a generation is swapped in',
        );
        return;
      }
      case 'ended':
    }
  }

  function stepsOfServer(state: State, take: Take): void {
    const { live, meta, stagings, lease, left, run, snapshot } = state;
    if (lease !== 0) take({ ...state, lease: 0 }, 'the lease expires');
    if (left.losses > 0) {
      const after = { ...state, left: { ...left, losses: left.losses - 1 } };
      stagings.forEach((staged, token) => {
        if (staged !== undefined)
          take({ ...after, stagings: replaced(stagings, token, undefined) }, 'a staging is evicted');
      });
      if (live) take({ ...after, live: undefined }, 'the live generation is evicted');
      if (meta) take({ ...after, meta: undefined }, 'the metadata are evicted');
    }
    if (left.snapshots > 0 && !snapshot) {
      take({ ...state, snapshot: { run, live, meta, stagings, lease } }, 'the server saves a snapshot');
    }
    if (snapshot) {
      const { snapshots } = left;
      take(
        {
          ...state,
          ...snapshot,
          run: run + 1,
          snapshot: undefined,
          left: { ...left, snapshots: snapshots - 1 },
        },
        'the server restarts from the snapshot',
      );
    }
  }

  function violation({ live, run, readers, adders }: State): string | undefined {
    const isPromised = adders.some(
      ({ at, isDropped }) => !isDropped && (at === 'acknowledged' || at === 'committed'),
    );
    if (!isPromised || !live) return undefined;
    for (const reader of readers) {
      if (reader.tag === 0 || (reader.run !== run && has('server-of-answer'))) continue;
      if (reader.tag === live.tag && !(live.holds & reader.spelling))
        return 'a reader answers "absent" for an id that is promised';
      if (reader.tag !== live.tag && !has('tag-compare'))
        return 'a reader takes a bit of another generation for an answer';
    }
    return undefined;
  }

  return { initial, steps, violation, key: keyOf };
}

const ENDED = { at: 'ended', token: 0, run: 0, hasRow: false } as const;

function offline(state: State): State {
  return { ...state, live: undefined, meta: { tag: 0, pending: state.meta?.pending ?? 0, run: state.run } };
}

function noMeta({ run }: State): Meta {
  return { tag: 0, pending: 0, run };
}

function startAgain(adder: Adder): Adder {
  return { ...adder, at: 'start', tag: 0, pending: 0 };
}

function afterReset(adder: Adder, token: number): Adder {
  return adder.at === 'acknowledged' && adder.pending !== token ? { ...adder, isDropped: true } : adder;
}

function both(one: Spellings | undefined, other: Spellings): Spellings {
  return ((one ?? 0) | other) as Spellings;
}

function replaced<Element>(list: readonly Element[], i: number, element: Element): readonly Element[] {
  const copy = list.slice();
  copy[i] = element;
  return copy;
}

const ADDER_AT = { start: 0, described: 1, acknowledged: 2, committed: 3 };
const REBUILDER_AT = {
  start: 0,
  leased: 1,
  staged: 2,
  published: 3,
  drained: 4,
  read: 5,
  merged: 6,
  ended: 7,
};

function keyOf(state: State): string {
  const { left, nextToken, snapshot, spellings } = state;
  const parts = [
    keyOfServer(state),
    String.fromCharCode(nextToken, left.losses + 8 * left.snapshots + 64 * Number(snapshot !== undefined)),
    spellings.join(''),
    snapshot ? keyOfServer(snapshot) : '',
    state.adders
      .map(({ spelling, at, tag, pending, isDropped }) =>
        String.fromCharCode(ADDER_AT[at] + 4 * Number(isDropped) + 8 * tag + 128 * pending + 2048 * spelling),
      )
      .sort()
      .join(''),
    state.rebuilders
      .map(({ spelling, at, token, run, hasRow }) =>
        String.fromCharCode(REBUILDER_AT[at] + 8 * Number(hasRow) + 16 * run + 128 * token + 2048 * spelling),
      )
      .sort()
      .join(''),
    state.readers
      .map(({ spelling, tag, run }) => String.fromCharCode(tag + 16 * run + 2048 * spelling))
      .sort()
      .join(''),
  ];
  return parts.join('');
}

function keyOfServer({ run, live, meta, stagings, lease }: Server): string {
  let staged = 0;
  for (let token = 1; token < 8; token++) staged = 5 * staged + 1 + (stagings[token] ?? -1);
  return String.fromCharCode(
    live ? 1 + 4 * live.tag + live.holds : 0,
    meta ? 1 + meta.tag + 16 * meta.pending + 256 * meta.run : 0,
    staged & 0xffff,
    staged >>> 16,
    lease + 16 * run,
  );
}

const system = systemsOf(buildModel);

export const rebuild: Protocol<Safety> = {
  name: 'rebuild',
  safeties: SAFETIES,
  systems: [
    system(
      'two adders, two rebuilders, a reader, two evictions',
      { adders: 2, rebuilders: 2, readers: 1, losses: 2, snapshots: 0, hasSource: true },
      {
        shows: [
          'tag-compare',
          'meta-guard',
          'pending-compare',
          'dual-write',
          'drain',
          'or-merge',
          'staging-there',
          'token-at-swap',
        ],
        spares: ['merge-token'],
      },
    ),
    system(
      'an adder, a rebuilder, three readers, an eviction, a snapshot',
      { adders: 1, rebuilders: 1, readers: 3, losses: 1, snapshots: 1, hasSource: true },
      { shows: ['server-of-answer', 'suspect'], spares: ['server-at-swap'] },
    ),
    system(
      'an adder, a rebuilder and a reader of each of two spellings, an eviction',
      { adders: 2, rebuilders: 2, readers: 2, losses: 1, snapshots: 0, hasSource: true, spellings: 2 },
      { shows: ['spelling-of-answer', 'spelling-at-add', 'spelling-at-staging'] },
    ),
    system('an adder, a reset and a reader of each of two spellings', {
      adders: 2,
      rebuilders: 2,
      readers: 2,
      losses: 0,
      snapshots: 0,
      hasSource: false,
      spellings: 2,
    }),
    system('two adders, two resets, two readers, an eviction', {
      adders: 2,
      rebuilders: 2,
      readers: 2,
      losses: 1,
      snapshots: 0,
      hasSource: false,
    }),
    system(
      'two adders, two rebuilders, a reader, an eviction, a snapshot',
      { adders: 2, rebuilders: 2, readers: 1, losses: 1, snapshots: 1, hasSource: true },
      { isLarge: true },
    ),
  ],
};
