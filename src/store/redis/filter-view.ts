import { randomBytes } from 'node:crypto';
import { type BloomEventListener, type BloomFilterState, BloomUnavailableError } from '../../common/index.js';
import type { FilterDescription } from '../index.js';
import { type KnownMeta, FORMAT, parseMeta, tagText } from './filter-meta.js';
import type { RedisConnection } from './redis-connection.js';
import type { RedisKeys } from './redis-keys.js';
import type { OfflineState, RedisScripts } from './redis-scripts.js';
import { type SegmentedGeneration, segmentedGeneration } from './segments.js';

/** A filter that is not ready is looked at again after this time. */
const RECHECK_MS = 250;
/**
 * One that is ready is looked at again, beside the look-ups, after this time, and no view is used for longer than twice as long:
 * a server that was made a replica by hand keeps its clients, and answers whoever only looks up.
 */
const LOOK_AGAIN_MS = 1000;

/** What one process knows of a filter, from one reading of its metadata. */
export interface FilterView {
  readonly description: FilterDescription;
  readonly live: SegmentedGeneration | undefined;
  readonly staged: SegmentedGeneration | undefined;
  /** Whether the hash `meta` was there. */
  readonly stored: boolean;
  /** The server that answered; '' when it may not be asked. */
  readonly runId: string;
  /** As the connection named it when the reading was begun. */
  readonly server: string;
  readonly readAt: number;
}

/** Reads, caches and guards the metadata of one filter, and takes the filter offline. */
export class FilterViews {
  private cached: FilterView | undefined;
  private loading: Promise<FilterView> | undefined;
  private toldNewer = '';
  private toldState: BloomFilterState | undefined;
  /** Whether this process has seen the filter live: metadata that are missing were lost then. */
  private wasLive = false;

  constructor(
    private readonly name: string,
    private readonly keys: RedisKeys,
    private readonly connection: RedisConnection,
    private readonly scripts: RedisScripts,
    private readonly emit: BloomEventListener,
    private readonly trustAfterFailover: boolean,
  ) {}

  /** The cached view as long as it may be used, else a new one. */
  async current(): Promise<FilterView> {
    const view = this.cached;
    if (view && this.isOfServer(view)) {
      const ageMs = performance.now() - view.readAt;
      if (view.live && ageMs >= LOOK_AGAIN_MS && !this.loading) this.lookAgain(view);
      if (ageMs < (view.live ? 2 * LOOK_AGAIN_MS : RECHECK_MS)) return view;
    }
    return this.reload();
  }

  /** Whether the server that answers is the one that the view was read from. */
  isOfServer(view: FilterView): boolean {
    return view.server === this.server();
  }

  /** A view read after this call. Concurrent calls may share one reading that none of them has begun. */
  async reload(): Promise<FilterView> {
    this.cached = undefined;
    // Wait for the reading under way, since it may be older than this call, then share the next one.
    const before = this.loading;
    if (before) {
      await before.catch(() => {});
      if (this.loading !== before && this.loading) return this.loading;
    }
    const loading = this.load().finally(() => {
      if (this.loading === loading) this.loading = undefined;
    });
    this.loading = loading;
    return loading;
  }

  forget(): void {
    this.cached = undefined;
  }

  /** The view is used until another one is there, or none can be had: the next look-up tells of that. */
  private lookAgain(view: FilterView): void {
    const loading = this.load()
      .catch((error: unknown) => {
        if (this.cached === view) this.forget();
        throw error;
      })
      .finally(() => {
        if (this.loading === loading) this.loading = undefined;
      });
    loading.catch(() => {});
    this.loading = loading;
  }

  /**
   * Moves the segments of the viewed generation aside, so that every process answers `unknown`, unless the filter is
   * another one by now. With metadata missing: every segment there is.
   */
  async takeOffline(view: FilterView, state: OfflineState, reason: string): Promise<void> {
    await this.offline({ tag: tagText(view.live?.generation), segments: view.live?.segments, state, reason });
  }

  private async offline(options: {
    tag: string;
    segments?: number | undefined;
    state: OfflineState;
    reason: string;
    nonsense?: boolean;
  }): Promise<void> {
    const { tag, segments, state, reason, nonsense = false } = options;
    this.cached = undefined;
    const token = randomBytes(8).toString('hex');
    const reply = await this.scripts.offline(this.keys, {
      tag,
      state,
      token,
      nonsense,
      ...(segments === undefined ? {} : { segments }),
    });
    if (reply === 'STALE') return;
    this.tell(reply.state as BloomFilterState, reason);
    await this.remove(reply.aside);
  }

  /** Removes keys one at a time, so that no other client waits for more than one. */
  async remove(keys: readonly string[]): Promise<void> {
    try {
      for (const key of keys) await this.connection.unlink(key);
    } catch (error) {
      this.emit({ type: 'clean-up-failed', filter: this.name, error });
    }
  }

  private async load(): Promise<FilterView> {
    for (let attempt = 0; attempt < 3; attempt++) {
      const server = this.server();
      const { runId, role, type, fields } = await this.scripts.describe(this.keys);
      // A replica lags, and a master that was made one keeps its clients and its run id.
      if (role === 'slave') throw new BloomUnavailableError('The Redis server that answers is a replica.');
      const meta = parseMeta(type, fields);
      if (meta.kind === 'newer') throw this.newer(meta.found);
      if (meta.kind === 'nonsense') {
        const reason = `The metadata make no sense (${meta.fault}).`;
        await this.offline({ tag: meta.tag, state: 'lost', reason, nonsense: true });
        continue;
      }
      if (meta.kind === 'missing' && this.wasLive) {
        await this.offline({ tag: '', state: 'lost', reason: 'The metadata are gone.' });
        continue;
      }
      const known = meta.kind === 'known' ? meta : undefined;
      if (known?.live && this.isSuspect(known.live.runId, runId)) {
        const live = segmentedGeneration(known.live, (index) => this.keys.segment(index));
        const reason = 'The server restarted or failed over and may have lost ids that it had acknowledged.';
        await this.offline({
          tag: tagText(live.generation),
          segments: live.segments,
          state: 'suspect',
          reason,
        });
        continue;
      }
      const view = this.view(known, { runId, server, readAt: performance.now() });
      this.cached = view;
      this.wasLive ||= view.live !== undefined;
      this.toldState ??= view.description.state;
      this.tell(
        view.description.state,
        view.live ? 'A generation went live.' : 'Another process found it so.',
      );
      return view;
    }
    throw new BloomUnavailableError(`The metadata of filter '${this.name}' keep changing.`);
  }

  private isSuspect(builtOn: string, now: string): boolean {
    return !this.trustAfterFailover && builtOn !== '' && now !== '' && builtOn !== now;
  }

  private view(
    meta: KnownMeta | undefined,
    read: Pick<FilterView, 'runId' | 'server' | 'readAt'>,
  ): FilterView {
    const live = meta?.live && segmentedGeneration(meta.live, (index) => this.keys.segment(index));
    const pending = meta?.pending;
    return {
      ...read,
      stored: meta !== undefined,
      live,
      staged: pending && segmentedGeneration(pending, (index) => this.keys.staged(pending.token, index)),
      description: {
        state: meta?.state ?? 'unbuilt',
        generation: meta?.live,
        builds: meta?.builds ?? 0,
        count: meta?.live ? meta.count : 0,
        builtIds: meta?.ids ?? 0,
        capacity: meta?.capacity ?? 0,
        errorRate: meta?.errorRate ?? 0,
        builtAt: meta?.builtAt,
        rebuilding: pending !== undefined,
      },
    };
  }

  private server(): string {
    return this.connection.serverOf(this.keys.meta);
  }

  private tell(state: BloomFilterState, reason: string): void {
    if (state === (this.toldState ?? 'unbuilt')) return;
    this.toldState = state;
    this.emit({ type: 'state-changed', filter: this.name, state, reason });
  }

  private newer(found: string): BloomUnavailableError {
    if (this.toldNewer !== found) {
      this.toldNewer = found;
      this.emit({ type: 'newer-format', filter: this.name, found, supported: FORMAT });
    }
    return new BloomUnavailableError(
      `Filter '${this.name}' is stored in format ${found}, this version knows formats up to ${FORMAT}. ` +
        'Upgrade nestjs-bloom here as on the other instances; until then every look-up goes through.',
    );
  }
}
