import { BLOCK_BYTES, type IdKey } from '../../src/filter/index.js';
import type { FilterStore, BloomVerdict } from '../../src/store/index.js';
import type { LocalCopyStore } from '../../src/store/local-copy/index.js';
import type { CopyWaits } from '../../src/store/redis/blocked/copies/copy-waits.js';
import type { LostLeases } from '../../src/store/redis/blocked/copies/lost-leases.js';
import type { RedisStore } from '../../src/store/redis/index.js';
import type { RedisConnection } from '../../src/store/redis/client/redis-connection.js';
import { SEGMENT_BLOCKS, type SegmentedGeneration } from '../../src/store/redis/staging/segments.js';
import type { GrowingScripts } from '../../packages/interop/src/redis/growing/growing-scripts.js';
import { luaPart, type LuaSources, luaReplacing, luaWithout } from '../../test/support/broken-lua.js';

/** What is other than in the library, for tests that must see a safety missing. */
export interface Breakage {
  readonly lua?: LuaSources;
  /** Believes blocks of any generation. */
  readonly readsAnyTag?: true;
  /** Takes blocks of layers that are not there for empty ones. */
  readonly readsAnyLayer?: true;
  /** Does not wait for transactions that began before a rebuild. */
  readonly drainsNot?: true;
  /** The second half of a swap that is no longer one script. */
  readonly secondHalfOfSwap?: string;
  /** Goes on believing what it knew when its connection ended. */
  readonly deafToClose?: true;
  readonly trustsAfterFailover?: true;
  /** Takes it that nobody has a lease of which the metadata do not know. */
  readonly seesAllLeases?: true;
  /** Takes what any server says of acknowledgements for what its own says. */
  readonly believesAnyServer?: true;
  /** Does not keep processes of two spellings apart by this rule. */
  readonly spellingRule?: SpellingRule;
  /** Keeps copies without one of their rules. */
  readonly copyStore?: typeof LocalCopyStore;
}

export type SpellingRule = 'spelling-of-answer' | 'spelling-at-add' | 'spelling-at-staging';

export interface Safety {
  readonly name: string;
  readonly what: string;
  /** Another safety covers for it: why no wrong answer is to be expected without this one. */
  readonly spare?: string;
  /** Seed of a schedule of the explorer that shows it missing: tried first where few do. */
  readonly shownBy?: number;
  take(): Breakage | Promise<Breakage>;
}

/** Every safety of the protocol, with the way to take it out. */
export const PROTOCOL_SAFETIES: readonly Safety[] = [
  {
    name: 'read-tag',
    what: 'a reader believes a block only if its tag is that of the generation it computed the positions for',
    take: () => ({ readsAnyTag: true }),
  },
  {
    name: 'add-tag',
    what: '`add` refuses a caller who knows another live generation',
    take: () => ({ lua: luaWithout('add-tag', ['add']) }),
  },
  {
    name: 'add-pending-tag',
    what: '`add` refuses a caller who knows another staged generation, or none',
    take: () => ({ lua: luaWithout('add-pending-tag', ['add']) }),
  },
  {
    name: 'double-write',
    what: '`add` writes to the staged generation too',
    take: () => ({ lua: luaWithout('double-write', ['add']) }),
  },
  {
    name: 'or-merge',
    what: 'a merge keeps the bits that adds have set in staging (OR, not overwrite)',
    take: () => ({
      lua: luaReplacing(
        'merge',
        "redis.call('BITOP', 'OR', KEYS[2], KEYS[2], KEYS[3])",
        "redis.call('BITOP', 'OR', KEYS[2], KEYS[3])",
      ),
    }),
  },
  {
    name: 'merge-token',
    what: 'a merge is refused without the lease',
    spare: 'staging keys carry the token in their names, and the swap asks for it: it saves work only',
    take: () => ({ lua: luaWithout('lease', ['load', 'merge']) }),
  },
  {
    name: 'swap-token',
    what: 'a swap is refused without the lease, or when another staging was published',
    shownBy: 521,
    take: () => ({ lua: luaWithout('staging-token', ['swap'], luaWithout('lease', ['swap'])) }),
  },
  {
    name: 'length',
    what: 'merge and swap refuse staged segments that are not there whole',
    shownBy: 2814,
    take: () => ({ lua: luaWithout('merge-length', ['merge'], luaWithout('length', ['swap'])) }),
  },
  {
    name: 'denial-mark',
    what: '`add` ends what is denied of its ids, and has nothing noted of them until their rows are visible',
    shownBy: 103,
    take: () => ({ lua: luaWithout('denial-mark') }),
  },
  {
    name: 'denial-table',
    what: '`add` refuses a caller who does not know the table of the negative cache that it has to mark',
    spare:
      'a process looks at the metadata again within two seconds, and a new table takes notes after twice the drain and one second: ' +
      'it is needed where the drain is below a second',
    take: () => ({ lua: luaWithout('denial-table') }),
  },
  {
    name: 'denial-refusal',
    what: 'a denial is not noted by who asked the database before all rows of its bucket were visible',
    shownBy: 103,
    take: () => ({ lua: luaWithout('denial-refusal') }),
  },
  {
    name: 'denial-quiet',
    what: 'nothing is noted in a new table until the rows are visible that were added before it was made',
    shownBy: 6841,
    take: () => ({ lua: luaReplacing('negativeCacheCreate', '+ ARGV[5]', '- 1') }),
  },
  {
    name: 'denial-swap',
    what: 'a table of the negative cache ends with its generation',
    take: () => ({ lua: luaWithout('denial-swap') }),
  },
  {
    name: 'drain',
    what: 'the scan begins when transactions that began before the staging was published have ended',
    take: () => ({ drainsNot: true }),
  },
  {
    name: 'one-script',
    what: 'a swap changes metadata and segments in one script',
    shownBy: 6455,
    take: () => ({
      lua: luaReplacing('swap', luaPart('swap', 'segments'), ''),
      secondHalfOfSwap: segmentsAlone(),
    }),
  },
  {
    name: 'offline',
    what: 'who finds the metadata missing retires the live segments before anything is added',
    shownBy: 484,
    take: () => ({ lua: luaWithout('offline') }),
  },
  {
    name: 'reconnect',
    what: 'a description is read again after a connection ended',
    shownBy: 710,
    take: () => ({ deafToClose: true }),
  },
  {
    name: 'suspect',
    what: 'a generation that went live on a server of another run id is taken offline',
    shownBy: 58,
    take: () => ({ trustsAfterFailover: true }),
  },
  {
    name: 'server',
    what: 'a swap is refused on a server other than the one that was staged on',
    spare: 'the generation would go live with the run id of the old server, and be suspect at the first look',
    take: () => ({ lua: luaWithout('server', ['swap']) }),
  },
];

function segmentsAlone(): string {
  const counts = 'local staged, old = tonumber(ARGV[5]), tonumber(ARGV[6])';
  return `${counts}\n${luaPart('swap', 'retire')}\n${luaPart('swap', 'segments')}\nreturn 'OK'\n`;
}

/** A store whose filters believe blocks of any generation. */
export function readingAnyTag(store: FilterStore): FilterStore {
  return {
    kind: store.kind,
    open: (options) => {
      const filter = store.open(options) as unknown as {
        reader: object;
        context: { connection: RedisConnection };
      };
      filter.reader = new CredulousReader(filter.context.connection);
      return filter as unknown as ReturnType<FilterStore['open']>;
    },
    close: () => store.close(),
  };
}

/** In the place of a `BlockReader`. */
class CredulousReader {
  constructor(private readonly connection: RedisConnection) {}

  async read(from: SegmentedGeneration, ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    return (await Promise.all(ids.map((id) => this.readOne(from, id)))).flat();
  }

  async readOne({ layout, key }: SegmentedGeneration, id: IdKey): Promise<BloomVerdict[]> {
    layout.locate(id);
    const { block, seed } = layout;
    const offset = (block % SEGMENT_BLOCKS) * BLOCK_BYTES;
    const name = key(Math.floor(block / SEGMENT_BLOCKS));
    const bytes = await this.connection.getRange(name, offset, offset + BLOCK_BYTES - 1);
    if (bytes.length !== BLOCK_BYTES) return ['unknown'];
    return [layout.contains(bytes, 0, seed) ? 'maybe' : 'absent'];
  }
}

/** Has the filters of a store believe metadata that know of no lease. */
export function seeingAllLeases(store: RedisStore): void {
  onOpened(store, ({ lostLeases }) => {
    const look = lostLeases.look.bind(lostLeases);
    lostLeases.look = (reading) => {
      look(reading);
      return 0;
    };
  });
}

/** Takes what any server says of acknowledgements for what its own says. */
export function believingAnyServer(store: RedisStore): void {
  onOpened(store, ({ copyWaits }) => {
    const waits = copyWaits as unknown as { announced(announcement: object): void };
    const announced = waits.announced.bind(copyWaits);
    waits.announced = (said) => announced({ ...said, runId: undefined });
  });
}

/** Takes out a rule that keeps processes of two spellings apart. */
export function ignoringSpelling(store: RedisStore, rule: SpellingRule): void {
  onOpened(store, ({ metadata }, filter) => {
    const { contents } = metadata;
    if (rule === 'spelling-of-answer') contents.reasonAgainst = async () => undefined;
    if (rule === 'spelling-at-staging') contents.differs = () => false;
    if (rule === 'spelling-at-add')
      filter.writable = async (snapshot) => ({ ...snapshot, others: undefined });
  });
}

interface OpenedContext {
  readonly lostLeases: LostLeases;
  readonly copyWaits: CopyWaits;
  readonly metadata: {
    readonly contents: { reasonAgainst(): Promise<undefined>; differs(): boolean };
  };
}

interface OpenedFilter {
  readonly context: OpenedContext;
  writable(snapshot: object): Promise<object>;
}

function onOpened(store: RedisStore, change: (context: OpenedContext, filter: OpenedFilter) => void): void {
  const opening = store as unknown as { openBlocked(options: unknown): OpenedFilter };
  const openBlocked = opening.openBlocked.bind(store);
  opening.openBlocked = (options) => {
    const filter = openBlocked(options);
    change(filter.context, filter);
    return filter;
  };
}

/** A store whose filters that grow take blocks that are not there for empty ones. */
export function readingAnyLayer(store: FilterStore): FilterStore {
  return {
    kind: store.kind,
    open: (options) => {
      const filter = store.open(options) as unknown as { context: { growing: GrowingScripts } };
      const { growing } = filter.context;
      const check = growing.check.bind(growing);
      growing.check = async (resolved, ...others) => {
        const blocks = await check(resolved, ...others);
        if (blocks === 'STALE') return blocks;
        return blocks.map((block, i) =>
          withTag(block, resolved.layers[i % resolved.layers.length]!.generation.tag),
        );
      };
      return filter as unknown as ReturnType<FilterStore['open']>;
    },
    close: () => store.close(),
  };
}

function withTag(block: unknown, tag: number): Buffer {
  const isWhole = Buffer.isBuffer(block) && block.length === BLOCK_BYTES;
  const bytes = isWhole ? Buffer.from(block) : Buffer.alloc(BLOCK_BYTES);
  bytes.writeUInt32LE(tag);
  return bytes;
}
