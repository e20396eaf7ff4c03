import {
  BloomConfigError,
  type BloomEventListener,
  BloomFormatError,
  BloomUnavailableError,
} from '../../../common/index.js';
import type { IdKey } from '../../../filter/index.js';
import {
  type AdvisedFilter,
  type StoredFilter,
  type BloomVerdict,
  type FilterDescription,
  type LeaseRequest,
  type RebuildLease,
  notRecorded,
} from '../../index.js';
import { BatchingFilter, unavailable } from './batching-filter.js';
import { verifyOwner } from './filter-owner.js';
import { adviseOnServer } from './server-advice.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { acquireLease } from './lease.js';
import { RedisLeases } from './leases.js';
import type { LuaSources } from '../client/script.js';
import type { ServerScripts } from './server-scripts.js';
import { refusedCommands, triesOfMetadata } from './command-permissions.js';
import type { LayoutDriver } from './layout-driver.js';
import type { GenerationKeys } from './generation-keys.js';
import { GenerationScripts } from './generation-scripts.js';
import type { GenerationSnapshot, ResolvedGeneration } from './generation-snapshot.js';
import { GenerationMetadataCache } from './generation-metadata-cache.js';

/** An add or a check starts over when the filter changed under it; a filter changes at most a few times a second. */
const MAX_ATTEMPTS = 5;

export interface DrivenFilterOptions<Resolved extends ResolvedGeneration> {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly keys: GenerationKeys;
  readonly connection: RedisConnection;
  readonly scripts: ServerScripts;
  readonly driver: LayoutDriver<Resolved>;
  /** Whether the filter can be rebuilt; one that cannot is taken as others have left it. */
  readonly hasSource: boolean;
  readonly trustAfterFailover: boolean;
  readonly owner: string | undefined;
  /** Whether it is taken as it is only when `adopt` is called. */
  readonly waitsForAdopt?: boolean;
  /** Whether nobody else writes to the key, so that it may be emptied. */
  readonly ownsKey?: boolean;
  readonly luaSources?: LuaSources | undefined;
}

/** A filter on a key that others write to as well. */
export class DrivenFilter<Resolved extends ResolvedGeneration>
  extends BatchingFilter
  implements StoredFilter
{
  /** Undefined of a key that nobody else fills. */
  readonly adopt: (() => Promise<void>) | undefined;

  private readonly companion: GenerationScripts;
  private readonly leases: RedisLeases;
  protected readonly views: GenerationMetadataCache<Resolved>;

  constructor(private readonly options: DrivenFilterOptions<Resolved>) {
    super(options);
    this.leases = new RedisLeases(options);
    this.companion = new GenerationScripts(options.connection, options.luaSources, options.owner);
    this.views = new GenerationMetadataCache({
      ...options,
      companion: this.companion,
      adopts: !options.hasSource && !options.waitsForAdopt,
      ownsKey: options.ownsKey ?? false,
    });
    this.adopt = options.ownsKey ? undefined : () => this.takeAsItIs();
  }

  get generation(): string | undefined {
    return this.views.known?.live?.generation.token;
  }

  async describe(): Promise<FilterDescription> {
    const { live, description } = await this.views.reload();
    const measured = live && (await this.options.driver.measure(live));
    return { ...description, count: measured?.count ?? 0, shape: measured?.shape };
  }

  async verify(): Promise<void> {
    const { driver, emit, name } = this.options;
    try {
      await driver.verify?.();
    } catch (error) {
      if (error instanceof BloomConfigError) throw error;
      emit({ type: 'store-error', filter: name, operation: 'verify the server', error });
      return;
    }
    await verifyOwner({ ...this.options, views: this.views });
  }

  async distrust(reason: string): Promise<void> {
    const view = await unavailable(this.views.reload());
    if (view.live) await unavailable(this.views.takeOffline(view, 'suspect', reason));
  }

  async advise(filter: AdvisedFilter): Promise<readonly string[]> {
    const { driver, connection, keys } = this.options;
    const tries = [...triesOfMetadata(keys.probe), ...driver.tries()];
    const onServer = await adviseOnServer(this.options, filter, () => refusedCommands(connection, tries));
    return [...onServer, ...(await driver.advise())];
  }

  async lease(request: LeaseRequest): Promise<RebuildLease | undefined> {
    const { driver, name, emit, keys } = this.options;
    const host = { name, emit, keys, scripts: this.companion, views: this.views };
    const parts = { ...this.options, leases: this.leases };
    return acquireLease(parts, (ticket) => driver.stage(ticket, host), request);
  }

  async close(): Promise<void> {
    this.leases.close();
    this.views.forget();
  }

  protected async record(ids: readonly IdKey[]): Promise<boolean[]> {
    const { driver, name, hasSource } = this.options;
    for (const id of ids) driver.assertFits(id);
    let view = await unavailable(this.views.current());
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      if (!view.live && !hasSource) view = await unavailable(this.views.reload());
      // No rebuild would ever find the id.
      if (!view.live && !hasSource) throw this.notReady(view);
      const reply = await this.send(view, ids);
      if (typeof reply === 'object') return reply;
      if (reply === 'LOST') await unavailable(this.views.takeOffline(view, 'lost', DAMAGED));
      view = await unavailable(this.views.reload());
    }
    throw new BloomUnavailableError(`Filter '${name}' kept changing while ids were added.`);
  }

  protected idsPerAdd(): number {
    return this.options.driver.idsPerCall(undefined);
  }

  protected async assertFit(ids: readonly IdKey[]): Promise<void> {
    for (const id of ids) this.options.driver.assertFits(id);
  }

  /** An answer counts unless the server changed meanwhile: another one may have the same generation without some of its ids. */
  protected async read(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const { views } = this;
    let view = await views.current();
    for (let attempt = 1; ; attempt++) {
      if (!view.live) return ids.map(() => 'unknown');
      const reply = await this.ask(view.live, ids);
      const isOfServer = views.isOfServer(view);
      if (isOfServer && typeof reply === 'object') return reply;
      // The token was compared where the damage was seen: it is this generation's.
      if (isOfServer && reply === 'LOST') await views.takeOffline(view, 'lost', DAMAGED);
      if (attempt === MAX_ATTEMPTS) return ids.map(() => 'unknown');
      view = await views.reload();
    }
  }

  private async ask(live: Resolved, ids: readonly IdKey[]): Promise<BloomVerdict[] | 'STALE' | 'LOST'> {
    const { driver } = this.options;
    const idsPerCall = driver.idsPerCall(live);
    const calls = [];
    for (let at = 0; at < ids.length; at += idsPerCall) {
      calls.push(driver.check(live, ids.slice(at, at + idsPerCall), 'live'));
    }
    const replies = await Promise.all(calls);
    const refused = replies.find((reply) => typeof reply === 'string');
    return refused ?? (replies as BloomVerdict[][]).flat();
  }

  private async send(
    view: GenerationSnapshot<Resolved>,
    ids: readonly IdKey[],
  ): Promise<boolean[] | 'STALE' | 'LOST'> {
    try {
      return await this.options.driver.add(view.live, view.staged, ids);
    } catch (error) {
      // The metadata may be what it failed on.
      this.views.forget();
      return unavailable(Promise.reject(error as Error));
    }
  }

  private async takeAsItIs(): Promise<void> {
    const adoption = await unavailable(this.views.adopt());
    const { name, keys } = this.options;
    switch (adoption.outcome) {
      case 'unfit':
        throw new BloomFormatError(adoption.reason);
      case 'missing':
        throw new BloomUnavailableError(
          `There is no key '${keys.data}' for filter '${name}'. Have its owner fill it, then call adopt() again.`,
        );
      case 'stale':
      case 'adopted':
        // Stale: another process was faster, or the filter is ready.
        if ((await unavailable(this.views.reload())).live) return;
        throw new BloomUnavailableError(`Filter '${name}' keeps changing. Call adopt() again.`);
    }
  }

  private notReady({ description: { state } }: GenerationSnapshot<Resolved>): BloomUnavailableError {
    const { name, keys, ownsKey } = this.options;
    if (ownsKey) return notRecorded({ name, key: keys.data }, state);
    return new BloomUnavailableError(
      `Filter '${name}' on key '${keys.data}' is ${state} and has no source: the id was not recorded. ` +
        (state === 'unbuilt' && !this.options.waitsForAdopt
          ? 'It is taken for ready as soon as its owner has made the key.'
          : 'Have its owner fill the key, then call adopt().'),
    );
  }
}

const DAMAGED = 'The key is gone, or is not the one that it was.';
