import { ContentsCheck } from './contents-check.js';
import type { MetadataContext } from './filter-context.js';
import { FilterOwnership } from './filter-owner.js';
import type { Adoption, OfflineState, PublishCommand } from './metadata-codec.js';
import type { MetadataSnapshot } from './stored-meta.js';
import { type Fault, MetadataFaults } from './metadata-faults.js';
import { MetadataReader, READ_AGAIN_MS } from './metadata-reader.js';
import { MetadataReports } from './metadata-reports.js';
import { GENERATION_LIVE, keepsChanging, metadataNonsense, STATE_FOUND } from './meta.messages.js';
import { KeepsChangingError } from './unknown-reason.js';
import type { Refusal } from '../swap/rebuild-step.js';
import { removeKeys, removeStagingKeys } from '../swap/remove-keys.js';

/** A filter that is not ready is looked at again after this time. */
const RECHECK_MS = 250;
/** One reading may find metadata that must not answer, and takes the filter offline; then it reads again. */
const MAX_READINGS = 3;
/** In which states a filter is taken as it is only if somebody says so. */
const ADOPTED_ON_REQUEST = ['lost', 'suspect'];

/** What one process knows of a filter: reads and caches its metadata, takes it offline, and adopts it. */
export class MetadataCache<Stored, Snapshot extends MetadataSnapshot<Stored>> {
  private readonly reader: MetadataReader;
  readonly reports: MetadataReports;
  private readonly ownership: FilterOwnership;
  private readonly contents: ContentsCheck<Stored, Snapshot>;
  private cached: Snapshot | undefined;
  private loading: Promise<Snapshot> | undefined;
  private readonly faults: MetadataFaults<Stored, Snapshot>;
  private onMode: ((record: string) => void) | undefined;

  constructor(private readonly context: MetadataContext<Stored, Snapshot>) {
    this.reader = new MetadataReader(context);
    this.reports = new MetadataReports(context);
    this.ownership = new FilterOwnership({ ...context, key: context.keys.meta });
    this.contents = new ContentsCheck(context);
    this.faults = new MetadataFaults(context);
  }

  /**
   * The cached snapshot as long as it may be used, else a new one. It is of the server that answers now: the
   * name of a cluster's node may change and change back while a question is under way. A snapshot that is
   * ready is read again beside the lookups: a server that was made a replica by hand keeps its clients, and
   * answers those that only look up.
   */
  async current(): Promise<Snapshot> {
    const snapshot = this.cached;
    if (snapshot && this.isOfServer(snapshot)) {
      const ageMs = performance.now() - snapshot.readAt;
      if (snapshot.live && ageMs >= READ_AGAIN_MS && !this.loading) this.readAgain(snapshot);
      if (ageMs < (snapshot.live ? 2 * READ_AGAIN_MS : RECHECK_MS)) {
        // Yield once: otherwise a loop of lookups on an unready filter starves timers and I/O.
        if (!snapshot.live) await new Promise(setImmediate);
        return snapshot;
      }
    }
    const refusal = this.ownership.lastRefusal;
    if (!refusal) return this.reload();
    await new Promise(setImmediate);
    throw refusal;
  }

  /** The cached snapshot as long as it may be used; never waits. */
  get known(): Snapshot | undefined {
    const snapshot = this.cached;
    const isUsable =
      snapshot && this.isOfServer(snapshot) && performance.now() - snapshot.readAt < 2 * READ_AGAIN_MS;
    return isUsable ? snapshot : undefined;
  }

  /** Names the build that is live, if that is known. */
  get generation(): string | undefined {
    const live = this.known?.live;
    return live && this.originOf(live.generation);
  }

  /** What names the build of a generation. */
  originOf(generation: Stored): string {
    return this.context.codec.originOf(generation);
  }

  isSameGeneration({ live: one }: Snapshot, { live: other }: Snapshot): boolean {
    if (!one || !other) return false;
    return this.originOf(one.generation) === this.originOf(other.generation);
  }

  /** Whether the server that answers is the one that the snapshot was read from. */
  isOfServer(snapshot: Snapshot): boolean {
    const { connection, keys } = this.context;
    return snapshot.server === connection.nodes.of(keys.meta).server;
  }

  /** A snapshot read after this call. Concurrent calls may share one reading that none of them has begun. */
  async reload(): Promise<Snapshot> {
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

  /** Reads the metadata again, beside the lookups where a generation is live. */
  async refresh(): Promise<void> {
    const { cached } = this;
    if (!cached?.live || !this.isOfServer(cached)) return void (await this.reload());
    if (!this.loading) this.readAgain(cached);
    await this.loading;
  }

  /** Reads the mode of all processes together with the metadata from now on. */
  followMode(key: string, onMode: (record: string) => void): void {
    this.reader.modeKey = key;
    this.onMode = onMode;
  }

  forget(): void {
    this.cached = undefined;
  }

  /** Makes every process answer `unknown`, unless the filter is another one by now. */
  async takeOffline(snapshot: Snapshot, state: OfflineState, reason: string): Promise<void> {
    await this.offline({ live: this.asStored(snapshot).live?.generation, state, reason });
  }

  /** The snapshot with all that the metadata name, also what processes made that spell ids otherwise. */
  asStored(snapshot: Snapshot): Snapshot {
    return (snapshot.others?.asStored ?? snapshot) as Snapshot;
  }

  /**
   * Ends what processes answer from, or will, that spell ids otherwise: they would not find one that is added
   * here. Returns what is known then.
   */
  async endOthers(snapshot: Snapshot): Promise<Snapshot> {
    const { reason, staging } = snapshot.others ?? {};
    if (staging !== undefined) await this.withdraw(staging);
    if (reason !== undefined) await this.takeOffline(snapshot, 'suspect', reason);
    return this.reload();
  }

  /** The same for all that is not of the present epoch, whatever this process has used before. */
  async endAllOthers(): Promise<Snapshot> {
    this.contents.forget();
    return this.endOthers(await this.reload());
  }

  async publish(command: Omit<PublishCommand<Stored>, 'fields'>): Promise<Refusal | 'OK'> {
    const fields = await this.contents.pendingFields(command.generation);
    const reply = await this.context.codec.publish({ ...command, fields });
    this.forget();
    return reply;
  }

  withdraw(token: string): Promise<void> {
    return this.context.codec.withdraw(token);
  }

  /** Takes the filter as others have left it, unless it is ready. */
  async adopt(): Promise<Adoption> {
    await this.endOthers(await this.reload());
    const adoption = await this.adoptIn(['unbuilt', ...ADOPTED_ON_REQUEST]);
    await this.reload();
    return adoption;
  }

  /** Removes keys a few at a time, so that no other client waits for many. */
  remove(keys: readonly string[]): Promise<void> {
    return this.cleanUp(removeKeys, keys);
  }

  /** The same for the keys of a staging that was given up: what went live all the same stays. */
  removeStaging(keys: readonly string[]): Promise<void> {
    return this.cleanUp(removeStagingKeys, keys);
  }

  private async read(isKnown: boolean): Promise<Snapshot> {
    const { connection, emit, name } = this.context;
    try {
      const snapshot = await this.load(isKnown);
      await this.ownership.claim(snapshot.description.state);
      connection.master.found();
      this.cached = snapshot;
      this.reader.accept(snapshot);
      return snapshot;
    } catch (error) {
      this.reports.readingFailed(error);
      const text = connection.master.adviceOn(error);
      if (text !== undefined) emit({ type: 'advice', filter: name, text });
      throw error;
    }
  }

  /** The snapshot is used until another one is there, or none can be had: the next lookup reports that. */
  private readAgain(snapshot: Snapshot): void {
    const loading = this.read(true)
      .catch((error: unknown) => {
        if (this.cached === snapshot) this.forget();
        throw error;
      })
      .finally(() => {
        if (this.loading === loading) this.loading = undefined;
      });
    loading.catch(() => {});
    this.loading = loading;
  }

  /**
   * Reads the metadata, and takes the filter offline where they say that it must not answer.
   *
   * @param isKnown whether this only sees that all is as it was.
   */
  private async load(isKnown: boolean): Promise<Snapshot> {
    const { codec, name } = this.context;
    for (let reading = 0; reading < MAX_READINGS; reading++) {
      const described = await this.reader.describe(isKnown && reading === 0);
      const isReplaced = this.reader.isReplaced(described);
      this.ownership.assertOurs(described.fields);
      if (described.mode !== undefined) this.onMode?.(described.mode);
      const meta = codec.parse(described.type, described.fields);
      if (meta.kind === 'other') throw this.reports.otherFormatFound(meta.found, codec.format);
      const fault = this.faults.in(meta, {
        isForeign: this.ownership.isForeign,
        isReplaced,
        runId: described.runId,
      });
      if (fault) {
        await this.offline(fault);
        continue;
      }
      const known = meta.kind === 'known' ? meta : undefined;
      if ((known?.state ?? 'unbuilt') === 'unbuilt' && (await this.isAdopted())) continue;
      const snapshot = codec.snapshot(known, described);
      if (snapshot === 'nonsense') {
        const reason = metadataNonsense('settings');
        await this.offline({ live: known?.live, state: 'lost', reason, nonsense: true });
        continue;
      }
      const usable = known ? await this.contents.usable(snapshot, known) : snapshot;
      if (usable === 'STALE') continue;
      this.reports.countsFound(known?.areCountsPlausible ?? true);
      const reason = usable.live ? GENERATION_LIVE : STATE_FOUND;
      this.reports.stateFound(usable.description.state, reason, usable.others?.reason);
      return usable;
    }
    throw new KeepsChangingError(keepsChanging(name, 'a look at its metadata'));
  }

  private async offline({ reason, ...fault }: Fault<Stored>): Promise<void> {
    const { codec } = this.context;
    this.forget();
    const done = await codec.offline({ ...fault, builds: this.faults.lastBuilds });
    if (!done) return;
    this.reports.stateChanged(done.state, reason);
    const { lastLive } = this.faults;
    if (lastLive !== undefined) await codec.retire?.(lastLive);
    const ownKeys = lastLive === undefined ? [] : (codec.ownKeys?.(lastLive) ?? []);
    await this.remove([...done.retiredKeys, ...ownKeys]);
  }

  /** Whether the filter, which was never seen before, has been taken as it is. */
  private async isAdopted(): Promise<boolean> {
    if (!this.context.adopts) return false;
    const adoption = await this.adoptIn(['unbuilt']);
    if (adoption.outcome === 'unfit') this.reports.unfitFound(adoption.reason);
    return adoption.outcome === 'adopted' || adoption.outcome === 'stale';
  }

  private async cleanUp(remove: typeof removeKeys, keys: readonly string[]): Promise<void> {
    const { connection, emit, name } = this.context;
    try {
      await remove(connection, keys);
    } catch (error) {
      emit({ type: 'clean-up-failed', filter: name, error });
    }
  }

  private async adoptIn(states: readonly string[]): Promise<Adoption> {
    return (await this.context.codec.adopt?.(states)) ?? { outcome: 'missing' };
  }
}
