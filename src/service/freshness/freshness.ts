import { BloomConfigError, type BloomEventListener, type Clock } from '../../common/index.js';
import type { BloomId, IdKey } from '../../filter/index.js';
import {
  type BloomFeed,
  type BloomIdSource,
  type BloomRebuildReport,
  markOf,
  type RebuildRequest,
} from '../../rebuild/index.js';
import {
  hasHighWaterMarks,
  type MarksAnswer,
  type MarkEntries,
  type MarksUpdate,
  type HighWaterMarks,
  type StoredFilter,
} from '../../store/index.js';
import type { FilterDefinition } from '../filter-definition.js';
import type { IdKeys } from '../id-keys.js';
import { type FilterEnvironment, newIdentity } from '../instances.js';
import { BuildMark } from './build-mark.js';
import { Coverage } from './coverage.js';
import { ChangeFeedRunner } from './change-feed-runner.js';
import { Follower } from './follower.js';
import { LocalMarks } from '../local-records.js';
import {
  type BloomFeedInfo,
  type BloomOutsideInfo,
  type BloomOutsideMetrics,
  FreshnessCounts,
} from './freshness-info.js';
import { noIdsSince } from '../service.messages.js';
import { TopUp } from './top-up.js';
import { TopUpReader } from './top-up-reader.js';
import type { TopUpSettings } from './top-up-options.js';

export interface FreshnessContext {
  readonly definition: FilterDefinition & { readonly source: BloomIdSource };
  readonly inStore: StoredFilter;
  readonly holder: string;
  readonly keys: IdKeys;
  readonly clock: Clock;
  readonly emit: BloomEventListener;
  readonly addKeys: (keys: readonly IdKey[]) => Promise<boolean[]>;
  readonly check: (id: BloomId) => Promise<string>;
  readonly rebuild: (request: RebuildRequest) => Promise<BloomRebuildReport>;
  readonly onBeyond: (ids: number) => void;
}

/** How often a process without `topUp` asks who follows the feed. */
const EVERY_MS = 1000;
/** Rebuilds that are asked for to get a mark have pauses that double from the first to the last. */
const FIRST_REBUILD_PAUSE_MS = 10_000;
const LAST_REBUILD_PAUSE_MS = 3_600_000;
/** So long a filter has to be ready without a mark. */
const MISSING_MS = 1000;

/** Keeps a filter up to date with rows that others write (`topUp`, `feed`). */
export class Freshness {
  /** Undefined unless ids are in order. */
  readonly coverage: Coverage | undefined;
  private readonly counts = new FreshnessCounts();
  private readonly context: FreshnessContext;
  private readonly stored: HighWaterMarks;
  private readonly follower: Follower;
  private readonly topUp: TopUp | undefined;
  private readonly feed: ChangeFeedRunner | undefined;
  /** As the store has answered, and as this process has recorded since. */
  private marks: MarkEntries = {};
  /** Since when the filter is ready without a mark. */
  private missingSince: number | undefined;
  /** Rebuilds of this process, each of which sets a mark at its end. */
  private building = 0;
  private nextRebuildAt = -Infinity;
  private rebuildPauseMs = FIRST_REBUILD_PAUSE_MS;

  constructor(given: FreshnessContext) {
    const emit: BloomEventListener = (event) => {
      this.counts.count(event);
      given.emit(event);
    };
    const context = (this.context = { ...given, emit });
    const { definition, inStore, keys, onBeyond } = context;
    const { name, topUp: settings, feed, maxIdBytes } = definition;
    this.stored = hasHighWaterMarks(inStore) ? inStore.highWaterMarks : new LocalMarks();
    this.coverage = settings?.ordered ? new Coverage({ settings, keys, maxIdBytes, onBeyond }) : undefined;
    this.topUp = settings && this.topUpBy(settings);
    this.feed = feed && this.runnerOf(feed);
    this.follower = new Follower({
      ...context,
      name,
      stored: this.stored,
      everyMs: settings?.everyMs ?? EVERY_MS,
      onAnswer: (answer) => this.onAnswer(answer),
      onTurn: async ({ entries }, signal) => {
        this.feed?.ensure(entries.position);
        const reading = await this.topUp?.turn(entries, signal);
        if (!reading) return;
        this.counts.readings++;
        this.counts.addedByTopUp += reading.added;
      },
      onEnd: async () => {
        this.topUp?.forget();
        await this.feed?.stop();
      },
    });
  }

  /** @throws {BloomConfigError} when the source cannot give what is new. */
  validate(): void {
    const { name, source } = this.context.definition;
    if (this.topUp && typeof source.idsSince !== 'function') throw new BloomConfigError(noIdsSince(name));
  }

  /** Resolves when it is known how far the filter has come, or that takes too long. Never rejects. */
  start(): Promise<void> {
    return this.follower.start();
  }

  stop(): Promise<void> {
    return this.follower.stop();
  }

  async build(
    source: BloomIdSource,
    build: (from: BloomIdSource) => Promise<BloomRebuildReport>,
  ): Promise<BloomRebuildReport> {
    const { definition, inStore, keys, clock, emit } = this.context;
    const { name, topUp } = definition;
    if (!topUp) return build(source);
    const mark = new BuildMark({
      source,
      stored: { ask: (question) => this.stored.ask(question), record: (update) => this.record(update) },
      settings: topUp,
      keys,
      clock,
      check: (asked) => inStore.check(asked),
      onError: (error) => emit({ type: 'top-up-failed', filter: name, error }),
      onMissing: (mark, reason) =>
        emit({ type: 'mark-moved-back', filter: name, mark: printedMark(mark)!, to: undefined, reason }),
    });
    this.building++;
    try {
      const report = await build(mark.source);
      if (this.isWhole(report)) await mark.published();
      return report;
    } finally {
      this.building--;
    }
  }

  async info(): Promise<BloomOutsideInfo> {
    const { entries, ageMs } = await this.stored.ask({ holder: '-', lifeMs: 0 });
    return {
      mark: entries.doubt ? undefined : printedMark(entries.mark),
      newest: printedMark(entries.newest),
      readAt: ageMs === undefined ? undefined : new Date(Date.now() - ageMs),
      isFollowing: this.follower.isFollowing,
      ...(this.feed && { feed: this.feedInfo(entries.position) }),
    };
  }

  metrics(): BloomOutsideMetrics {
    const { topUp, feed, counts } = this;
    return {
      isFollowing: this.follower.isFollowing,
      topUp: topUp && counts.ofTopUp(),
      feed: feed && counts.ofFeed(this.runOf(feed)),
    };
  }

  private runOf({ status }: ChangeFeedRunner): Pick<BloomFeedInfo, 'isRunning' | 'behindBytes'> {
    return { isRunning: status !== undefined, behindBytes: status?.behindBytes };
  }

  private feedInfo(position: string | undefined): BloomFeedInfo {
    const feed = this.feed!;
    return { position: feed.status?.position ?? position, ...this.runOf(feed) };
  }

  /** Parts that were not rebuilt may lack rows that were read. */
  private isWhole(report: BloomRebuildReport): boolean {
    const { partitions } = this.context.definition;
    if (report.outcome !== 'published') return false;
    return report.parts === undefined || new Set(report.parts).size === partitions;
  }

  private topUpBy(settings: TopUpSettings): TopUp {
    const { definition, keys, clock, emit, holder, addKeys, check } = this.context;
    const { name, source } = definition;
    return new TopUp({
      name,
      source,
      settings,
      clock,
      emit,
      reader: new TopUpReader({ ...definition, settings, keys, emit, clock, add: addKeys }),
      isKnown: async (id) => (await check(id)) === 'maybe',
      record: (expectedMark, entries) => this.record({ holder, expectedMark, entries }),
      askForRebuild: () => void this.askForRebuild(),
    });
  }

  private runnerOf(feed: BloomFeed): ChangeFeedRunner {
    const { definition, holder, addKeys, rebuild } = this.context;
    return new ChangeFeedRunner({
      ...this.context,
      name: definition.name,
      feed,
      onBadId: definition.onBadId,
      add: async (keys) => {
        this.counts.addedByFeed += (await addKeys(keys)).filter(Boolean).length;
      },
      record: (entries) => this.stored.record({ holder, expectedMark: undefined, entries }),
      rebuild: async () => this.isWhole(await rebuild({ occasion: { kind: 'manual' }, join: false })),
    });
  }

  private async record(update: MarksUpdate): Promise<boolean> {
    const isNoted = await this.stored.record(update);
    const { mark } = update.entries;
    if (!isNoted || mark === undefined) return isNoted;
    // A rebuild records what was the newest id when it began.
    const ageMs = update.holder === undefined ? Infinity : 0;
    this.marks = { ...this.marks, ...update.entries };
    this.coverage?.update({ entries: this.marks, ageMs });
    this.missingSince = undefined;
    if (update.holder !== undefined && mark !== '') this.rebuildPauseMs = FIRST_REBUILD_PAUSE_MS;
    return true;
  }

  private onAnswer(answer: MarksAnswer): void {
    if (answer.entries.mark !== undefined) this.missingSince = undefined;
    this.marks = answer.entries;
    this.coverage?.update(answer);
  }

  private async askForRebuild(): Promise<void> {
    const { clock, definition, inStore, rebuild } = this.context;
    try {
      const { state } = await inStore.describe();
      // One that is not ready is rebuilt anyway.
      if (state !== 'ready' || this.building > 0) {
        this.missingSince = undefined;
        return;
      }
      this.missingSince ??= clock.now();
      // A rebuild elsewhere sets the mark when the filter is live and all leased copies know that.
      const missingMs = MISSING_MS + 2 * (definition.copyLeaseMs ?? 0);
      if (clock.now() < Math.max(this.missingSince + missingMs, this.nextRebuildAt)) return;
      this.nextRebuildAt = clock.now() + this.rebuildPauseMs;
      this.rebuildPauseMs = Math.min(2 * this.rebuildPauseMs, LAST_REBUILD_PAUSE_MS);
      await rebuild({ occasion: { kind: 'recovery' } });
    } catch {
      // An event has reported it.
    }
  }
}

/** Undefined for a filter with neither of the options `topUp` and `feed`. */
export function openFreshness(
  filter: Pick<FreshnessContext, 'keys'> & {
    readonly definition: FilterDefinition;
    readonly lookups: { recordUnknown(reason: 'beyond', ids: number): void };
    addKeys(keys: readonly IdKey[]): Promise<boolean[]>;
    check(id: BloomId): Promise<string>;
    rebuild(request: RebuildRequest): Promise<BloomRebuildReport>;
  },
  inStore: StoredFilter,
  { identity = newIdentity(), clock, emit }: Pick<FilterEnvironment, 'identity' | 'clock' | 'emit'>,
): Freshness | undefined {
  const { definition, keys, lookups } = filter;
  const { topUp, feed, source } = definition;
  if (!source || !(topUp ?? feed)) return undefined;
  return new Freshness({
    definition: { ...definition, source },
    inStore,
    holder: identity.id,
    keys,
    clock,
    emit,
    addKeys: (ids) => filter.addKeys(ids),
    check: (id) => filter.check(id),
    rebuild: (request) => filter.rebuild(request),
    onBeyond: (ids) => lookups.recordUnknown('beyond', ids),
  });
}

function printedMark(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const mark = markOf(text);
  return mark instanceof Date ? mark.toISOString() : String(mark ?? text);
}
