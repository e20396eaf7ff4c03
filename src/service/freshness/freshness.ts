import type { BloomEventListener } from '../../common/index.js';
import type { BloomId, IdKey } from '../../filter/index.js';
import {
  type BloomFeed,
  type BloomIdSource,
  type BloomRebuildReport,
  printedMark,
  type RebuildRequest,
} from '../../rebuild/index.js';
import type {
  CoveredIds,
  MarksAnswer,
  MarkEntries,
  MarksQuestion,
  MarksUpdate,
  HighWaterMarks,
  StoredFilter,
} from '../../store/index.js';
import type { AddOrigin } from '../bloom-filter.js';
import type { FilterDefinition } from '../filter-definition.js';
import type { IdKeys } from '../id-keys.js';
import { type FilterEnvironment, newIdentity } from '../filter-environment.js';
import { BuildMark } from './build-mark.js';
import { Coverage, type CoverageContext } from './coverage.js';
import { ChangeFeedRunner } from './change-feed-runner.js';
import { Follower, LocalMarks } from './follower.js';
import { heldForLocalAdds, LocalAdds } from './local-adds.js';
import type { BloomFeedInfo, BloomOutsideInfo, BloomOutsideMetrics } from '../metrics.js';
import { MissingMark } from './missing-mark.js';
import { askedOfDatabase } from './newest-question.js';
import { TopUp } from './top-up.js';
import { TopUpReader } from './top-up-reader.js';
import type { TopUpSettings } from './top-up-options.js';

/** What freshness needs of its filter. */
interface FollowedFilter {
  readonly definition: FilterDefinition;
  readonly keys: IdKeys;
  readonly lookups: { recordUnknown(reason: 'beyond', ids: number): void };
  addKeys(keys: readonly IdKey[], origin: AddOrigin): Promise<boolean[]>;
  check(id: BloomId): Promise<string>;
  rebuild(request: RebuildRequest): Promise<BloomRebuildReport>;
}

export interface FreshnessContext extends Pick<FilterEnvironment, 'clock' | 'emit'> {
  readonly filter: FollowedFilter;
  readonly source: BloomIdSource;
  readonly inStore: StoredFilter;
  readonly holder: string;
  /** Processes answer up to a mark by what each of them has, and hear of no add of another one. */
  readonly isHeldByEach: boolean;
}

/** How often a process without `topUp` asks who follows the feed. */
const EVERY_MS = 1000;

/** Keeps a filter up to date with rows that others write (`topUp`, `feed`). */
export class Freshness {
  /** Undefined unless ids are in order. */
  readonly coverage: Coverage | undefined;
  private readonly counts = {
    topUp: { readings: 0, added: 0, failures: 0 },
    feed: { added: 0, failures: 0, gaps: 0 },
  };
  private readonly context: FreshnessContext;
  private readonly stored: HighWaterMarks;
  private readonly follower: Follower;
  private readonly settings: TopUpSettings | undefined;
  private readonly localAdds: LocalAdds | undefined;
  private readonly topUp: TopUp | undefined;
  private readonly feed: ChangeFeedRunner | undefined;
  /** As the store has answered, and as this process has recorded since. */
  private marks: MarkEntries = {};
  private readonly missing: MissingMark;

  constructor(given: FreshnessContext) {
    const emit: BloomEventListener = (event) => {
      if (event.type === 'top-up-failed') this.counts.topUp.failures++;
      if (event.type === 'feed-failed') this.counts.feed.failures++;
      if (event.type === 'feed-gap') this.counts.feed.gaps++;
      if (event.type === 'mark-moved-back') this.localAdds?.forget();
      given.emit(event);
    };
    this.context = { ...given, emit };
    this.missing = new MissingMark(given);
    const { filter, inStore, source, clock, isHeldByEach } = given;
    const { name, topUp, feed } = filter.definition;
    const isLocal = isHeldByEach && topUp?.ordered === true;
    const settings = isLocal ? heldForLocalAdds(topUp, filter.definition) : topUp;
    this.settings = settings;
    this.stored = inStore.highWaterMarks ?? new LocalMarks();
    if (settings?.ordered)
      this.coverage = coverageOf(filter, settings, { ...this.context, hear: () => this.follower.hear() });
    if (isLocal) {
      // By the overlap that was asked for: the time for which adds are held is on top of it.
      const check = (asked: readonly IdKey[]) => inStore.check(asked);
      const mark = () => this.marks.mark;
      this.localAdds = new LocalAdds({
        name,
        source,
        settings: topUp,
        keys: filter.keys,
        clock,
        check,
        mark,
      });
    }
    this.topUp = settings && this.topUpBy(settings);
    this.feed = feed && this.runnerOf(feed);
    this.follower = new Follower({
      ...this.context,
      name,
      stored: this.stored,
      everyMs: settings?.everyMs ?? EVERY_MS,
      onAnswer: (answer) => this.onAnswer(answer),
      onTurn: async ({ entries }, signal) => {
        this.feed?.ensure(entries.position);
        const at = clock.now();
        const reading = await this.topUp?.turn(entries, signal);
        await this.localAdds?.record(at, reading);
        if (!reading) return;
        this.counts.topUp.readings++;
        this.counts.topUp.added += reading.added;
      },
      onEnd: async () => {
        this.topUp?.forget();
        await this.feed?.stop();
      },
    });
  }

  /** Whether rows are found whenever they come, and none were found so far. */
  get isOfNewTable(): boolean {
    return this.coverage !== undefined && !this.marks.mark;
  }

  /** Resolves when it is known how far the filter has come, or that takes too long. Never rejects. */
  start(): Promise<void> {
    return this.follower.start();
  }

  stop(): Promise<void> {
    return this.follower.stop();
  }

  /** What a local copy covers whose blocks are read after the call; undefined for nothing. */
  coveredByCopy(): CoveredIds | undefined {
    return this.coverage?.ofCopy();
  }

  /**
   * Looks whether no other process can answer "absent" for these ids, where none hears of an add.
   *
   * @throws as `LocalAdds.admit`.
   */
  admit(keys: readonly IdKey[]): Promise<void> | undefined {
    return this.localAdds?.admit(keys);
  }

  async build(
    source: BloomIdSource,
    build: (from: BloomIdSource) => Promise<BloomRebuildReport>,
  ): Promise<BloomRebuildReport> {
    const { filter, inStore, clock, emit } = this.context;
    const { name, stallMs } = filter.definition;
    const { settings } = this;
    if (!settings) return build(source);
    const mark = new BuildMark({
      source,
      stored: { ask: (question) => this.ask(question), record: (update) => this.record(update) },
      settings,
      keys: filter.keys,
      clock,
      stallMs,
      check: (asked) => inStore.check(asked),
      onError: (error) => emit({ type: 'top-up-failed', filter: name, error }),
      onMissing: (mark, reason) =>
        emit({ type: 'mark-moved-back', filter: name, mark: printedMark(mark)!, to: undefined, reason }),
    });
    return this.missing.whileBuilding(async () => {
      const report = await build(mark.source);
      if (this.isWhole(report)) await mark.published();
      return report;
    });
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
      topUp: topUp && { ...counts.topUp },
      feed: feed && { ...this.runOf(feed), ...counts.feed },
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
    const { partitions } = this.context.filter.definition;
    if (report.outcome !== 'published') return false;
    return report.parts === undefined || new Set(report.parts).size === partitions;
  }

  private topUpBy(settings: TopUpSettings): TopUp {
    const { filter, holder } = this.context;
    const context = { ...this.context, name: filter.definition.name, settings };
    return new TopUp({
      ...context,
      reader: new TopUpReader({
        ...filter.definition,
        ...context,
        keys: filter.keys,
        add: (keys) => filter.addKeys(keys, 'row'),
      }),
      isKnown: async (id) => (await filter.check(id)) === 'maybe',
      record: (expectedMark, entries) => this.record({ holder, expectedMark, entries }),
      askForRebuild: () => void this.missing.askForRebuild(),
    });
  }

  private runnerOf(feed: BloomFeed): ChangeFeedRunner {
    const { filter, holder } = this.context;
    const { name, onBadId } = filter.definition;
    return new ChangeFeedRunner({
      ...this.context,
      name,
      feed,
      keys: filter.keys,
      onBadId,
      add: async (keys) => {
        this.counts.feed.added += (await filter.addKeys(keys, 'row')).filter(Boolean).length;
      },
      record: (entries) => this.stored.record({ holder, expectedMark: undefined, entries }),
      rebuild: async () => this.isWhole(await filter.rebuild({ occasion: { kind: 'manual' }, join: false })),
    });
  }

  private async ask(question: MarksQuestion): Promise<MarksAnswer> {
    const answer = await this.stored.ask(question);
    this.onAnswer(answer);
    return answer;
  }

  private async record(update: MarksUpdate): Promise<boolean> {
    const isNoted = await this.stored.record(update);
    const { mark } = update.entries;
    if (!isNoted || mark === undefined) return isNoted;
    // A rebuild records what was the newest id when it began.
    const ageMs = update.holder === undefined ? Infinity : 0;
    this.marks = { ...this.marks, ...update.entries };
    this.coverage?.update({ entries: this.marks, ageMs });
    this.missing.found();
    if (update.holder !== undefined && mark !== '') this.missing.hasMoved();
    return true;
  }

  private onAnswer(answer: MarksAnswer): void {
    const { mark, newest } = answer.entries;
    if (mark !== undefined) this.missing.found();
    // The process that follows has given it up.
    if (this.marks.mark && !mark && newest) this.localAdds?.forget();
    this.marks = answer.entries;
    this.coverage?.update(answer);
  }
}

function coverageOf(
  filter: FollowedFilter,
  settings: TopUpSettings,
  context?: Pick<FreshnessContext, 'source' | 'clock' | 'emit'> & Pick<CoverageContext, 'hear'>,
): Coverage {
  const { keys, definition, lookups } = filter;
  const { name, maxIdBytes, replica } = definition;
  const onBeyond = (ids: number) => lookups.recordUnknown('beyond', ids);
  const isOfNoRow = context && askedOfDatabase({ ...context, keys, name });
  const outlivesStore = replica === 'covered';
  const hear = context?.hear;
  return new Coverage({ settings, keys, maxIdBytes, onBeyond, isOfNoRow, outlivesStore, hear });
}

/** Until it is known whether ids are in order: every id is beyond the mark. */
export function noneCovered(filter: FollowedFilter): Coverage {
  return coverageOf(filter, { everyMs: 0, overlapMs: 0, ordered: true, order: undefined, slack: undefined });
}

/** Undefined for a filter that reads nothing between rebuilds. */
export function openFreshness(
  filter: FollowedFilter,
  inStore: StoredFilter,
  { identity = newIdentity(), store, clock, emit }: Omit<FilterEnvironment, 'heartbeat'>,
): Freshness | undefined {
  const { topUp, feed, source, replica } = filter.definition;
  if (!source || !(topUp ?? feed)) return undefined;
  const isHeldByEach = store.kind === 'memory' || replica === 'covered';
  return new Freshness({ filter, source, inStore, holder: identity.id, isHeldByEach, clock, emit });
}
