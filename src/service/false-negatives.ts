import type { BloomEvent, BloomEventListener } from '../common/index.js';
import type { DistrustPauses, StoredFilter } from '../store/index.js';
import type { FalseNegativeReport, GuardableFilter } from './bloom-filter.js';
import { adviseOnWrongAbsents, foundButAbsent } from './service.messages.js';

interface FalseNegativesOptions {
  readonly filter: Pick<GuardableFilter, 'name' | 'guarding' | 'keys' | 'checkKey' | 'addKeys'>;
  /** Without one no rebuild can follow. */
  readonly hasSource: boolean;
  readonly emit: BloomEventListener;
  readonly store: Pick<StoredFilter, 'describe' | 'distrust'>;
}

/** Time after a distrust before the next one; doubles with each, since a rebuild has not helped then. */
const PAUSE_MS = 5 * 60_000;
const MAX_PAUSE_MS = 24 * 3_600_000;
/** The store keeps the same pauses for all processes, and for those that start again. */
const PAUSES: DistrustPauses = { firstMs: PAUSE_MS, lastMs: MAX_PAUSE_MS };
const ADVISE_EVERY_MS = 60_000;

/** What a wrong "absent" leads to. */
type Consequence = 'none' | 'distrusted' | 'guard-off';

/**
 * Decides what a false negative leads to. The filter lacks an id, which a rebuild mends; or the guard reads
 * something else than the ids of the filter; or its method returns something for ids that do not exist. So
 * the filter is rebuilt first, at most once in five minutes, with growing pauses that all processes share by
 * the store. A guard that is wrong in two builds, or twice in one that was rebuilt lately, or whose filter
 * has no source, blocks nothing any more in this process: else it could deny a whole table, or made-up ids
 * would cause one rebuild after another. In shadow mode nothing follows.
 */
export class FalseNegatives {
  private nextAt = -Infinity;
  private pauseMs = PAUSE_MS;
  /** Number of the build that this process distrusted last; undefined where another process did. */
  private distrustedBuild: number | undefined;
  private readonly advisedAt = new Map<string, number>();

  constructor(private readonly options: FalseNegativesOptions) {}

  /** Rejects when the store cannot be asked. */
  async report(report: FalseNegativeReport): Promise<void> {
    const { id, key, method } = report;
    const { filter, emit, store } = this.options;
    const { guarding } = filter;
    if (guarding.isOff(method)) return;
    guarding.recordFound(method);
    const isOn = guarding.mode === 'on';
    // Before the filter is asked: a build that goes live in between is taken for the older one.
    const builds = isOn ? (await store.describe()).builds : 0;
    if ((await filter.checkKey(key)) !== 'absent') return;
    guarding.wrongAbsents++;
    let consequence: Consequence = 'none';
    try {
      if (isOn) consequence = await this.consequenceOf(method, builds);
    } finally {
      const { absent: absents, wrongAbsents } = guarding;
      const distrusted = consequence === 'distrusted';
      const guardOff = consequence === 'guard-off' && { guardOff: true as const };
      emit({
        type: 'wrong-absent',
        filter: filter.name,
        id,
        method,
        wrongAbsents,
        absents,
        distrusted,
        ...guardOff,
      });
    }
    this.advise(report, consequence);
    // The id may well exist, and then it is found from now on.
    if (!isOn) return;
    filter.keys.assertFits(key);
    await filter.addKeys([key], 'row');
  }

  /** To be called with the events of the store: a suspect filter is rebuilt, whichever process made it so. */
  onEvent(event: BloomEvent): void {
    if (event.type !== 'state-changed' || event.state === 'ready') return;
    this.options.filter.guarding.methods.tryAgain();
    if (event.state !== 'suspect' || performance.now() < this.nextAt) return;
    this.pause();
    this.distrustedBuild = undefined;
  }

  /** @param builds number of the build that answered "absent". */
  private async consequenceOf(method: string, builds: number): Promise<Consequence> {
    const { hasSource, store } = this.options;
    const { guarding } = this.options.filter;
    // Another report has turned the guard off in the meantime.
    if (guarding.isOff(method)) return 'none';
    const before = guarding.recordWrong(method, builds);
    const wasRebuilt = before !== undefined && before !== builds;
    if (!hasSource || wasRebuilt) return this.turnOff(method);
    if (performance.now() >= this.nextAt) {
      this.pause();
      this.distrustedBuild = builds;
      if (await store.distrust(foundButAbsent(method), PAUSES)) return 'distrusted';
      // Another process did within the pause, or the filter is out of service.
      this.distrustedBuild = undefined;
    }
    // One id may be missing in a build that is new. Reports that were under way when it was distrusted say
    // nothing either.
    if (before === undefined || builds === this.distrustedBuild) return 'none';
    const now = await store.describe();
    return now.state === 'ready' && now.builds === builds ? this.turnOff(method) : 'none';
  }

  private turnOff(method: string): Consequence {
    return this.options.filter.guarding.turnOff(method) ? 'guard-off' : 'none';
  }

  /** Distrusts nothing for a while. */
  private pause(): void {
    const now = performance.now();
    // A calm as long as the last pause says that the last rebuild has helped.
    this.pauseMs = now > this.nextAt + this.pauseMs ? PAUSE_MS : Math.min(this.pauseMs * 2, MAX_PAUSE_MS);
    this.nextAt = now + this.pauseMs;
  }

  private advise(report: FalseNegativeReport, consequence: Consequence): void {
    const { filter, hasSource, emit } = this.options;
    const { method } = report;
    const now = performance.now();
    const isDue = now - (this.advisedAt.get(method) ?? -Infinity) >= ADVISE_EVERY_MS;
    if (!isDue && consequence !== 'guard-off') return;
    this.advisedAt.set(method, now);
    const known = {
      hasSource,
      hasFoundNothing: filter.guarding.methodsThatReportMissing.has(method),
      isGuardOff: consequence === 'guard-off',
    };
    emit({
      type: 'advice',
      filter: filter.name,
      text: adviseOnWrongAbsents({ ...report, ...known }),
      withoutId: adviseOnWrongAbsents({ ...report, ...known, id: undefined }),
    });
  }
}
