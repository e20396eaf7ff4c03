import {
  type BloomEventListener,
  type BloomFilterState,
  BloomUnavailableError,
} from '../../../common/index.js';
import { FilterOwnership } from './filter-owner.js';
import type { RedisConnection } from '../client/redis-connection.js';
import type { ServerScripts } from './server-scripts.js';
import { ASK_RUN_EVERY_MS, type SeenRun } from '../client/server-runs.js';

/** A filter that is not ready is looked at again after this time. */
const RECHECK_MS = 250;
/**
 * One that is ready is looked at again, beside the lookups, after this time, and no view is used for longer than twice as long:
 * a server that was made a replica by hand keeps its clients, and answers whoever only looks up.
 */
const LOOK_AGAIN_MS = ASK_RUN_EVERY_MS;

/** What one process knows of a filter, from one reading of its metadata. */
export interface MetadataSnapshot {
  /** What answers; undefined unless the filter is ready. */
  readonly live: unknown;
  /** As the connection named it when the reading was begun. */
  readonly server: string;
  /** Empty when the server may not be asked. */
  readonly runId: string;
  readonly readAt: number;
}

export interface CachedFilter {
  readonly name: string;
  /** The key of the metadata. */
  readonly key: string;
  readonly connection: RedisConnection;
  readonly scripts: ServerScripts;
  readonly emit: BloomEventListener;
  /** This application; undefined: whose filter it is does not matter. */
  readonly owner: string | undefined;
  readonly hasSource: boolean;
}

/** The fields that name a generation, and say whether it answers. */
const LIVE_FIELDS = ['format', 'state', 'tag', 'token', 'sum', 'runId', 'builds'];

/** What the server has of a filter, and when it was known which server that is. */
interface Described extends Pick<MetadataSnapshot, 'server' | 'runId' | 'readAt'> {
  readonly type: string;
  readonly fields: readonly string[];
}

/** Reads and caches what one process knows of one filter, and tells of its state. */
export abstract class MetadataCache<View extends MetadataSnapshot> {
  private cached: View | undefined;
  private loading: Promise<View> | undefined;
  private toldNewer = '';
  private toldState: BloomFilterState | undefined;
  private lastServer: Pick<MetadataSnapshot, 'server' | 'runId'> | undefined;
  private hasDisbelieved = false;
  /** The live generation as it was described last. */
  private lastDescribed = '';

  protected readonly ownership: FilterOwnership;

  constructor(private readonly filter: CachedFilter) {
    this.ownership = new FilterOwnership(filter);
  }

  /** The cached view as long as it may be used, else a new one. */
  async current(): Promise<View> {
    const refusal = this.ownership.lastRefusal;
    if (refusal) {
      await new Promise(setImmediate);
      throw refusal;
    }
    const view = this.cached;
    if (view && this.isOfServer(view)) {
      const ageMs = performance.now() - view.readAt;
      if (view.live && ageMs >= LOOK_AGAIN_MS && !this.loading) this.lookAgain(view);
      if (ageMs < (view.live ? 2 * LOOK_AGAIN_MS : RECHECK_MS)) {
        // Yield once: otherwise a loop of lookups on an unready filter starves timers and I/O.
        if (!view.live) await new Promise(setImmediate);
        return view;
      }
    }
    return this.reload();
  }

  /** The cached view as long as it may be used; never waits. */
  get known(): View | undefined {
    const view = this.cached;
    const isUsable = view && this.isOfServer(view) && performance.now() - view.readAt < 2 * LOOK_AGAIN_MS;
    return isUsable ? view : undefined;
  }

  /** Whether the server that answers is the one that the view was read from. */
  isOfServer(view: View): boolean {
    return view.server === this.server();
  }

  /** A view read after this call. Concurrent calls may share one reading that none of them has begun. */
  async reload(): Promise<View> {
    this.cached = undefined;
    // Wait for the reading under way, since it may be older than this call, then share the next one.
    const before = this.loading;
    if (before) {
      await before.catch(() => {});
      if (this.loading !== before && this.loading) return this.loading;
    }
    const loading = this.read(false).finally(() => {
      if (this.loading === loading) this.loading = undefined;
    });
    this.loading = loading;
    return loading;
  }

  forget(): void {
    this.cached = undefined;
  }

  /**
   * Reads the metadata, and takes the filter offline where they say that it must not answer.
   *
   * @param isKnown whether this only sees that all is as it was.
   */
  protected abstract load(isKnown: boolean): Promise<View>;

  /**
   * Reads what is stored. Where only what is known is looked at again, all filters of a connection ask once a second which run of
   * the server answers; a filter that is not as it was asks for itself. A view is as old as the older of both answers.
   */
  protected async describe(isKnown: boolean): Promise<Described> {
    const { connection, scripts, key } = this.filter;
    const server = this.server();
    const recent = isKnown ? connection.runs.recent(server) : undefined;
    // Not awaited when there is none: what looks at the same moment shall find the question on its way.
    const seen = recent && (await recent);
    if (seen && this.lastServer?.server === server && this.lastServer.runId === seen.runId) {
      const { type, fields } = await scripts.describe(key, true);
      if (server === this.server() && this.lastDescribed === liveText(fields)) {
        return { type, fields, server, runId: seen.runId, readAt: seen.at };
      }
    }
    return this.askServer();
  }

  private async askServer(): Promise<Described> {
    const { connection, scripts, key } = this.filter;
    const server = this.server();
    const asked = scripts
      .describe(key, false)
      .then((found) => ({ ...found, server, readAt: performance.now() }));
    const seenRun = ({ runId, readAt }: Described): SeenRun | undefined =>
      // A command that was sent again on the next connection says nothing of the one before.
      runId === '' || server !== this.server() ? undefined : { runId, at: readAt };
    connection.runs.share(server, asked.then(seenRun));
    const described = await asked;
    this.lastDescribed = liveText(described.fields);
    return described;
  }

  protected server(): string {
    return this.filter.connection.serverOf(this.filter.key);
  }

  /**
   * Whether another server has answered, on a connection that was not closed: one that took over, or one that never had what was
   * acknowledged here.
   *
   * @param server as the connection named it when the reading was begun.
   */
  protected isReplaced(server: string, runId: string): boolean {
    const before = this.lastServer;
    // A command that was sent again on the next connection says nothing of the one before.
    if (runId === '' || server !== this.server() || before?.server !== server || before.runId === runId)
      return false;
    const { connection, emit, name } = this.filter;
    const text = connection.path.adviceOnReplaced(before.runId, runId);
    if (text !== undefined) emit({ type: 'advice', filter: name, text });
    return true;
  }

  /** Tells of another state than the last one; the first one that is seen is no news. */
  protected see(state: BloomFilterState, reason: string): void {
    this.toldState ??= state;
    this.tell(state, reason);
  }

  protected tell(state: BloomFilterState, reason: string): void {
    if (state === (this.toldState ?? 'unbuilt')) return;
    this.toldState = state;
    this.filter.emit({ type: 'state-changed', filter: this.filter.name, state, reason });
  }

  /** Tells once of numbers in the metadata that were not written with the generation. */
  protected judge(areCountsBelieved: boolean): void {
    const { name, key, emit } = this.filter;
    if (!areCountsBelieved && !this.hasDisbelieved) {
      const text =
        `The numbers of the last build in ${key} (ids, capacity, errorRate, builtAt) are not those that were written with it, so they are not ` +
        'believed: the next rebuild is planned without them. Something else writes to this key; leave it to this library alone.';
      emit({ type: 'advice', filter: name, text });
    }
    this.hasDisbelieved = !areCountsBelieved;
  }

  protected newer(found: string, supported: string): BloomUnavailableError {
    const { name, emit } = this.filter;
    if (this.toldNewer !== found) {
      this.toldNewer = found;
      emit({ type: 'newer-format', filter: name, found, supported });
    }
    return new BloomUnavailableError(
      `Filter '${name}' is stored in format ${found}, this version knows formats up to ${supported}. ` +
        'Upgrade nestjs-bloom here as on the other instances; until then every lookup goes through.',
    );
  }

  private async read(isKnown: boolean): Promise<View> {
    const { connection, emit, name } = this.filter;
    try {
      const view = await this.load(isKnown);
      await this.ownership.claim(view.live !== undefined);
      connection.master.found();
      this.cached = view;
      if (view.runId !== '' && this.isOfServer(view))
        this.lastServer = { server: view.server, runId: view.runId };
      return view;
    } catch (error) {
      const text = connection.master.adviceOn(error);
      if (text !== undefined) emit({ type: 'advice', filter: name, text });
      throw error;
    }
  }

  /** The view is used until another one is there, or none can be had: the next lookup tells of that. */
  private lookAgain(view: View): void {
    const loading = this.read(true)
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
}

function liveText(fields: readonly string[]): string {
  const found: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (LIVE_FIELDS.includes(fields[i]!)) found.push(fields[i]!, fields[i + 1]!);
  }
  return found.join(' ');
}
