import { tagText } from '../protocol/segments/segments.js';
import { randomBytes } from 'node:crypto';
import {
  type BloomEventListener,
  type BloomFilterState,
  BloomUnavailableError,
} from '../../../common/index.js';
import { MetadataCache } from '../protocol/metadata-cache.js';
import { FORMAT, parseMeta } from './blocked-meta.js';
import { type BlockedSnapshot, viewOf } from './blocked-snapshot.js';
import type { RedisConnection } from '../client/redis-connection.js';
import type { RedisKeys } from '../protocol/redis-keys.js';
import { removeKeys } from '../protocol/remove-keys.js';
import type { BlockedScripts, OfflineState } from './blocked-scripts.js';
import type { ServerScripts } from '../protocol/server-scripts.js';

export interface FilterViewsOptions {
  readonly name: string;
  readonly keys: RedisKeys;
  readonly connection: RedisConnection;
  readonly scripts: ServerScripts;
  readonly blocked: BlockedScripts;
  readonly emit: BloomEventListener;
  readonly trustAfterFailover: boolean;
  readonly owner: string | undefined;
  readonly hasSource: boolean;
}

/** Reads, caches and guards the metadata of one filter, and takes the filter offline. */
export class BlockedMetadataCache extends MetadataCache<BlockedSnapshot> {
  /** The generation that this process has last seen live: metadata that are missing were lost then. */
  private lastLive: { tag: number; builds: number } | undefined;

  constructor(private readonly options: FilterViewsOptions) {
    super({ ...options, key: options.keys.meta });
  }

  /**
   * Moves the segments of the viewed generation aside, so that every process answers `unknown`, unless the filter is
   * another one by now. With metadata missing: every segment there is.
   */
  async takeOffline(view: BlockedSnapshot, state: OfflineState, reason: string): Promise<void> {
    await this.offline({ tag: tagText(view.live?.generation), segments: view.live?.segments, state, reason });
  }

  /** Removes keys a few at a time, so that no other client waits for many. */
  async remove(keys: readonly string[]): Promise<void> {
    const { connection, emit, name } = this.options;
    try {
      await removeKeys(connection, keys);
    } catch (error) {
      emit({ type: 'clean-up-failed', filter: name, error });
    }
  }

  protected async load(isKnown: boolean): Promise<BlockedSnapshot> {
    const { keys, name, trustAfterFailover } = this.options;
    for (let attempt = 0; attempt < 3; attempt++) {
      const { server, runId, readAt, type, fields } = await this.describe(isKnown && attempt === 0);
      const isReplaced = this.isReplaced(server, runId) && !trustAfterFailover;
      this.ownership.assertOurs(fields);
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
      const view = viewOf(known, keys, { runId, server, readAt });
      if (known?.live && (isReplaced || this.isSuspect(known.live.runId, runId))) {
        const reason = 'The server restarted or failed over and may have lost ids that it had acknowledged.';
        await this.takeOffline(view, 'suspect', reason);
        continue;
      }
      if (known?.live && this.isMadeAgain(known.live.tag, known.builds)) {
        const reason = 'The filter was lost, and made again by a process that did not know it.';
        await this.takeOffline(view, 'lost', reason);
        continue;
      }
      if (known?.live) this.lastLive = { tag: known.live.tag, builds: known.builds };
      this.judge(known?.areCountsBelieved ?? true);
      this.see(
        view.description.state,
        view.live ? 'A generation went live.' : 'Another process found it so.',
      );
      return view;
    }
    throw new BloomUnavailableError(`The metadata of filter '${name}' keep changing.`);
  }

  private async offline(options: {
    tag: string;
    segments?: number | undefined;
    state: OfflineState;
    reason: string;
    nonsense?: boolean;
  }): Promise<void> {
    const { tag, segments, state, reason, nonsense = false } = options;
    const { blocked, keys } = this.options;
    this.forget();
    const token = randomBytes(8).toString('hex');
    const reply = await blocked.offline(keys, {
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
}
