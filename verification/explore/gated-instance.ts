import type { Command } from 'ioredis';
import type { BloomId } from '../../src/filter/index.js';
import {
  BloomGuardRunner,
  type EntryPoint,
  type GuardDeclaration,
  guardedCall,
} from '../../src/guard/index.js';
import { BloomService, defineFilter, type FilterDefinition, ManagedFilter } from '../../src/service/index.js';
import { chosenLayout } from '../../src/service/filter-definition.js';
import type { BloomReplicaMode, FilterStore, BloomVerdict } from '../../src/store/index.js';
import { markLifeMs } from '../../src/store/redis/blocked/redis-negative-cache.js';
import { RedisStore } from '../../src/store/redis/index.js';
import { LocalCopyStore } from '../../src/store/local-copy/index.js';
import type { LiveCopy } from '../../src/store/local-copy/live-copy.js';
import {
  believingAnyServer,
  type Breakage,
  ignoringSpelling,
  readingAnyLayer,
  readingAnyTag,
  seeingAllLeases,
} from './broken-store.js';
import type { VirtualInterval } from './ambient.js';
import { GatedRedis } from './gated-redis.js';
import type { Ground } from './ground.js';
import { KEY_PREFIX, type LeasedPlan } from './scenario.js';
import type { Reply } from './server-link.js';
import { numberOf, type PagedSource } from './simulated-table.js';
import type { SimulatedServer } from './simulated-server.js';

/** Deadlines: the schedule decides what is late, so no timer of this length is ever fired. */
export const NEVER_MS = 1_000_000_000;
/** So short that a view of the metadata may be older than the last mark in a table of denials. */
export const DRAIN_MS = 400;
/** After so long all rows are visible whose ids were added before. */
export const CLOCK_LEAP_MS = markLifeMs(DRAIN_MS) + 1;

/** Something that waits for the schedule. */
export interface Held {
  /** A command to the server; otherwise a turn of the process alone. */
  readonly command?: Command;
  /** Another program sends it. */
  readonly isOfPeer?: boolean;
  /** Its caller has given it up, but it is on its way. */
  isGhost?: boolean;
  /** Sent while somebody empties the filter: it may do that also when nobody waits for it any more. */
  readonly empties?: boolean;
  /** How readily the schedule lets it through: some commands are slow. */
  readonly weight: number;
  readonly what: string;
  /** When it may go on, by the clock of its process. */
  readonly dueAt?: number;
  /** Waits for what others write. */
  readonly isOfFeed?: true;
  readonly client?: GatedRedis;
  /** What the server has answered, when that is still on its way. */
  reply?: Reply;
  isDue(): boolean;
  go(): void;
}

export interface GatedInstanceOptions {
  readonly index: number;
  readonly filterName: string;
  readonly ground: Ground;
  readonly capacity: number;
  /** Whether the process keeps a copy of the filter. */
  readonly hasReplica: boolean;
  readonly leased: LeasedPlan | undefined;
  /** Whether it shares denials; otherwise it may have to mark those of others. */
  readonly shares: boolean;
  readonly spellsOtherwise?: boolean | undefined;
  readonly isNumbered?: boolean | undefined;
  readonly source: PagedSource | undefined;
  readonly server: SimulatedServer;
  readonly breakage: Breakage;
  readonly now: () => number;
  readonly wall: () => number;
  readonly hold: (instance: GatedInstance, held: HeldCommand) => void;
  /** Waits until the schedule lets the query for a row be made; whether the row is there. */
  readonly hasRow: (instance: GatedInstance, id: string) => Promise<boolean>;
  /**
   * Waits until so much has passed by the clock of the process, or, if that is enough, a staging is
   * announced.
   */
  readonly rest: (instance: GatedInstance, ms: number, untilAnnounced?: boolean) => Promise<void>;
  readonly sleep: (instance: GatedInstance, ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface HeldCommand {
  readonly command: Command;
  readonly client: GatedRedis;
  readonly isOfPeer: boolean;
  /** Whether the server replies: who sends it does not hear otherwise whether it arrives. */
  readonly isAnswered: boolean;
}

/**
 * One process of the application: the library's own store, filter and guard on a client that is held at the
 * gate.
 */
export class GatedInstance {
  readonly name: string;
  readonly index: number;
  readonly held: Held[] = [];
  readonly intervals: VirtualInterval[] = [];
  readonly client: GatedRedis;
  /** A client of another program on the keys of the filter, which lives as long as this process. */
  readonly peerClient: GatedRedis;
  isAlive = true;
  /** Clients whose connection ended, which they have not heard yet. */
  readonly cut = new Set<GatedRedis>();
  /** When the last reply of an add came, by the clock of this process. */
  addedAt: number | undefined;
  weight = 1;
  /** Ids of the adds that are under way. */
  readonly adding = new Set<string>();
  /**
   * Ids of each add under way that the server is not known to have got: an add may wait for long after that.
   */
  readonly unrecorded = new Set<readonly string[]>();
  /** The same of the peer. */
  readonly peerAdding = new Set<string>();
  /** Ids whose transactions this instance's rebuild has to wait for. */
  drain: ReadonlySet<string> = new Set();
  /** Whether its rebuild has published a staging that has not ended yet. */
  hasPublished = false;
  /** How many adds had been recorded when its rebuild withdrew a staging last. */
  addsAtWithdrawal = 0;
  /** Whether the server is to get a swap that was given up only after an add that its staging lacks. */
  hasLateSwap = false;
  /** Whether it has seen the filter ready. */
  hasSeenLive = false;
  /** How many people empty the filter through it. */
  resetting = 0;
  filter!: ManagedFilter;
  private guard!: BloomGuardRunner;
  private declaration!: GuardDeclaration;

  private constructor(readonly options: GatedInstanceOptions) {
    this.name = `I${options.index}`;
    this.index = options.index;
    const holdAs = (isOfPeer: boolean) => (command: Command, client: GatedRedis, isAnswered: boolean) => {
      options.server.replaceScript(command);
      options.hold(this, { command, client, isOfPeer, isAnswered });
    };
    this.client = new GatedRedis(holdAs(false));
    this.peerClient = new GatedRedis(holdAs(true));
  }

  static async start(options: GatedInstanceOptions): Promise<GatedInstance> {
    const instance = new GatedInstance(options);
    const { breakage, filterName: name, capacity, shares, source, ground, leased } = options;
    const { spellsOtherwise = false, isNumbered = false } = options;
    const emit = () => {};
    const redisStore = await RedisStore.connect({
      redis: instance.client,
      keyPrefix: KEY_PREFIX,
      timeoutMs: NEVER_MS,
      writeTimeoutMs: NEVER_MS,
      trustAfterFailover: breakage.trustsAfterFailover ?? leased?.isTrusted ?? false,
      emit,
    });
    const clock = {
      now: options.now,
      wall: options.wall,
      sleep: (ms: number, signal?: AbortSignal) => options.sleep(instance, ms, signal),
    };
    const filter = new ManagedFilter(
      {
        ...definition(capacity),
        name,
        layout: chosenLayout({ name, capacity, layout: ground.layout }),
        source,
        ...(isNumbered && { normalize: (id: BloomId) => numberOf(String(id)) }),
        ...(spellsOtherwise && { normalize: (id: BloomId) => `other-${String(id)}` }),
        replica: replicaMode(options),
        ...(leased && { copyLeaseMs: leased.leaseMs }),
        drainMs: source ? DRAIN_MS : 0,
        negativeCache: shares ? { shared: true, lifeMs: NEVER_MS, maxIds: 64 } : false,
      },
      { store: storeOf(redisStore, breakage), emit, clock },
    );
    const service = new BloomService(emit);
    service.register(filter);
    instance.filter = filter;
    instance.guard = new BloomGuardRunner({ service });
    instance.guard.learnSingletons(new Set([instance]));
    instance.declaration = {
      filter: name,
      method: 'Shop.find',
      options: {},
      counted: { last: undefined },
      number: undefined,
    };
    return instance;
  }

  /** What a guarded method would do. */
  async guarded(id: string): Promise<BloomVerdict> {
    const call = guardedCall(this.declaration, DIRECT_ENTRY, this, [id]);
    if (await this.guard.decide(call)) return 'absent';
    const isThere = await this.options.hasRow(this, id);
    this.guard.lessons.settleResult(call, isThere ? id : null);
    return 'maybe';
  }

  /** Whether a lookup that began now would answer "absent" without asking the server. */
  denies(id: string): boolean {
    const copy = this.leasedCopy;
    return copy !== undefined && !copy.filter.mightContainKey(this.filter.keys.of(id)!);
  }

  get isLeased(): boolean {
    return this.leasedCopy !== undefined;
  }

  private get leasedCopy() {
    const { copies } = (this.filter as unknown as { inStore: { copies?: LiveCopy } }).inStore;
    const copy = copies?.current;
    return copy?.isWhole && copy.isProven ? copy : undefined;
  }

  /** What a registering method does before it runs. */
  async register(ids: readonly string[]): Promise<void> {
    await this.guard.registrar.register({ filter: this.filter.name, ids: [...ids], onError: 'throw' });
  }
}

const DIRECT_ENTRY: EntryPoint = {
  readId: (_, args) => args[0],
  readBy: 'the first argument',
  context: () => 'method',
  isNullable: () => false,
  absent: undefined,
};

function replicaMode({ hasReplica, leased }: GatedInstanceOptions): BloomReplicaMode {
  if (!hasReplica) return 'off';
  return leased ? 'leased' : 'verified';
}

function storeOf(
  redisStore: RedisStore,
  { readsAnyTag, readsAnyLayer, copyStore: Copies = LocalCopyStore, ...broken }: Breakage,
): FilterStore {
  if (broken.spellingRule) ignoringSpelling(redisStore, broken.spellingRule);
  if (broken.seesAllLeases) seeingAllLeases(redisStore);
  if (broken.believesAnyServer) believingAnyServer(redisStore);
  if (readsAnyTag) return readingAnyTag(redisStore);
  if (readsAnyLayer) return readingAnyLayer(redisStore);
  return new Copies(redisStore);
}

const definitions = new Map<number, FilterDefinition>();

function definition(capacity: number): FilterDefinition {
  let known = definitions.get(capacity);
  if (!known) {
    known = defineFilter({
      name: 'any',
      capacity,
      create: 'first-start',
      // So few ids are in a block that one of the others passes once in 10^11.
      errorRate: 0.01,
      rebuild: { leaseMs: NEVER_MS, drainMs: DRAIN_MS, minRatio: 0 },
    });
    definitions.set(capacity, known);
  }
  return known;
}
