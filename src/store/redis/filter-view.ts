import { randomBytes } from 'node:crypto';
import { type BloomEventListener, type BloomFilterState, BloomUnavailableError } from '../../common/index.js';
import { shapeOf } from '../../filter/index.js';
import type { CopyableDescription } from '../index.js';
import type { DenialTableName } from './denial-table-name.js';
import { type CachedView, CachedViews } from './cached-views.js';
import { type KnownMeta, FORMAT, parseMeta, tagText } from './filter-meta.js';
import type { RedisConnection } from './redis-connection.js';
import type { RedisKeys } from './redis-keys.js';
import type { OfflineState, RedisScripts } from './redis-scripts.js';
import { type SegmentedGeneration, segmentedGeneration } from './segments.js';

/** What one process knows of a filter, from one reading of its metadata. */
export interface FilterView extends CachedView {
  readonly description: CopyableDescription;
  readonly live: SegmentedGeneration | undefined;
  readonly staged: SegmentedGeneration | undefined;
  readonly denials: DenialTableName | undefined;
  /** Whether the hash `meta` was there. */
  readonly stored: boolean;
  /** The server that answered; '' when it may not be asked. */
  readonly runId: string;
}

export interface FilterViewsOptions {
  readonly name: string;
  readonly keys: RedisKeys;
  readonly connection: RedisConnection;
  readonly scripts: RedisScripts;
  readonly emit: BloomEventListener;
  readonly trustAfterFailover: boolean;
  readonly hasSource: boolean;
}

/** Reads, caches and guards the metadata of one filter, and takes the filter offline. */
export class FilterViews extends CachedViews<FilterView> {
  private readonly name: string;
  private readonly keys: RedisKeys;
  private readonly connection: RedisConnection;
  private readonly scripts: RedisScripts;
  private readonly emit: BloomEventListener;
  /** The generation that this process has last seen live: metadata that are missing were lost then. */
  private lastLive: { tag: number; builds: number } | undefined;

  constructor(private readonly options: FilterViewsOptions) {
    super({ ...options, key: options.keys.meta });
    this.name = options.name;
    this.keys = options.keys;
    this.connection = options.connection;
    this.scripts = options.scripts;
    this.emit = options.emit;
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
    this.forget();
    const token = randomBytes(8).toString('hex');
    const reply = await this.scripts.offline(this.keys, {
      tag,
      state,
      token,
      nonsense,
      builds: this.lastLive?.builds ?? 0,
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

  protected async load(): Promise<FilterView> {
    for (let attempt = 0; attempt < 3; attempt++) {
      const server = this.server();
      const { runId, role, type, fields } = await this.scripts.describe(this.keys);
      // A replica lags, and a master that was made one keeps its clients and its run id.
      if (role === 'slave') throw new BloomUnavailableError('The Redis server that answers is a replica.');
      const meta = parseMeta(type, fields);
      if (meta.kind === 'newer') throw this.newer(meta.found, FORMAT);
      if (meta.kind === 'nonsense') {
        const reason = `The metadata make no sense (${meta.fault}).`;
        await this.offline({ tag: meta.tag, state: 'lost', reason, nonsense: true });
        continue;
      }
      if (meta.kind === 'missing' && this.lastLive) {
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
      if (known?.live && this.isMadeAgain(known.live.tag, known.builds)) {
        const live = segmentedGeneration(known.live, (index) => this.keys.segment(index));
        const reason = 'The filter was lost, and made again by a process that did not know it.';
        await this.offline({ tag: tagText(live.generation), segments: live.segments, state: 'lost', reason });
        continue;
      }
      const view = this.view(known, { runId, server, readAt: performance.now() });
      if (known?.live) this.lastLive = { tag: known.live.tag, builds: known.builds };
      this.see(
        view.description.state,
        view.live ? 'A generation went live.' : 'Another process found it so.',
      );
      return view;
    }
    throw new BloomUnavailableError(`The metadata of filter '${this.name}' keep changing.`);
  }

  private isSuspect(builtOn: string, now: string): boolean {
    return !this.options.trustAfterFailover && builtOn !== '' && now !== '' && builtOn !== now;
  }

  /** Every build counts on from the last one. With a source all ids are in the new filter as well. */
  private isMadeAgain(tag: number, builds: number): boolean {
    const { hasSource, trustAfterFailover } = this.options;
    const { lastLive } = this;
    if (hasSource || trustAfterFailover || !lastLive || lastLive.tag === tag) return false;
    return builds <= lastLive.builds;
  }

  private view(
    meta: KnownMeta | undefined,
    read: Pick<FilterView, 'runId' | 'server' | 'readAt'>,
  ): FilterView {
    const live = meta?.live && segmentedGeneration(meta.live, (index) => this.keys.segment(index));
    const pending = meta?.pending;
    const count = meta?.live ? meta.count : 0;
    return {
      ...read,
      stored: meta !== undefined,
      live,
      staged: pending && segmentedGeneration(pending, (index) => this.keys.staged(pending.token, index)),
      denials: meta?.denials,
      description: {
        state: meta?.state ?? 'unbuilt',
        generation: meta?.live,
        shape: meta?.live && shapeOf(meta.live, count),
        builds: meta?.builds ?? 0,
        count,
        builtIds: meta?.ids ?? 0,
        capacity: meta?.capacity ?? 0,
        errorRate: meta?.errorRate ?? 0,
        builtAt: meta?.builtAt,
        rebuilding: pending !== undefined,
      },
    };
  }
}
