import { BloomConfigError, BloomFormatError, type IdKey } from 'nestjs-bloom/filter';
import {
  type AdvisedFilter,
  type BloomFilterState,
  BloomUnavailableError,
  type BloomVerdict,
  type FilterDescription,
  type LookupOutcome,
  notRecorded,
} from 'nestjs-bloom/store';
import {
  type FilterContext,
  keepsChanging,
  MetadataCache,
  metadataPermissions,
  outcomesOf,
  type Outdated,
  type Permission,
  RebuildLock,
  type StagingContext,
  StoredFilterInRedis,
  unavailable,
} from 'nestjs-bloom/internal';
import { GenerationCodec } from './generation-codec.js';
import { KEY_REPLACED, keyNotReady, noKeyToAdopt } from './generation.messages.js';
import type { GenerationKeys } from './generation-keys.js';
import type { StoredGeneration } from './generation-meta.js';
import { GenerationScripts } from './generation-scripts.js';
import type { GenerationSnapshot, ResolvedGeneration } from './generation-snapshot.js';
import type { GenerationStaging, LayoutDriver } from './layout-driver.js';

export interface DrivenFilterOptions<Resolved extends ResolvedGeneration> extends FilterContext {
  readonly keys: GenerationKeys;
  readonly driver: LayoutDriver<Resolved>;
  readonly trustAfterFailover: boolean;
  /** Whether it is taken as it is only when `adopt` is called. */
  readonly waitsForAdopt?: boolean;
  /** Whether nobody else writes to the key, so that it may be emptied. */
  readonly ownsKey?: boolean;
}

/**
 * A filter on a key of its own that others may write to as well: one that cannot be rebuilt is taken as they
 * have left it.
 */
export class DrivenFilter<Resolved extends ResolvedGeneration> extends StoredFilterInRedis<
  StoredGeneration,
  GenerationSnapshot<Resolved>
> {
  /** Undefined of a key that nobody else fills. */
  readonly adopt: (() => Promise<void>) | undefined;
  protected readonly damage = KEY_REPLACED;

  constructor(protected readonly options: DrivenFilterOptions<Resolved>) {
    const { connection, owner, hasSource, waitsForAdopt, ownsKey = false } = options;
    const generations = new GenerationScripts(connection, owner);
    const codec = new GenerationCodec({ ...options, generations });
    const adopts = !hasSource && !waitsForAdopt;
    const metadata = new MetadataCache({ ...options, codec, adopts, ownsKey });
    super({ ...options, metadata, lock: new RebuildLock(options) });
    this.adopt = ownsKey ? undefined : () => this.takeAsItIs();
  }

  async describe(): Promise<FilterDescription> {
    const { live, description } = await this.context.metadata.reload();
    const measured = live && (await this.options.driver.measure(live));
    return { ...description, count: measured?.count ?? 0, shape: measured?.shape };
  }

  override async verify(): Promise<void> {
    const { driver, emit, name } = this.options;
    try {
      await driver.verify?.();
    } catch (error) {
      if (error instanceof BloomConfigError) throw error;
      emit({ type: 'store-error', filter: name, operation: 'verify the server', error });
      return;
    }
    await super.verify();
  }

  override async advise(filter: AdvisedFilter): Promise<readonly string[]> {
    return [...(await super.advise(filter)), ...((await this.options.driver.advise?.()) ?? [])];
  }

  protected permissions(): Permission[] {
    const { driver, keys } = this.options;
    return [...metadataPermissions(keys.probe), ...driver.permissions()];
  }

  protected stage(context: StagingContext): GenerationStaging<Resolved> {
    return this.options.driver.stage(context, { ...this.context, keys: this.options.keys });
  }

  protected idsPerAdd(): number {
    return this.options.driver.idsPerCall(undefined);
  }

  protected async assertFit(ids: readonly IdKey[]): Promise<void> {
    for (const id of ids) this.options.driver.assertFits(id);
  }

  protected async record(ids: readonly IdKey[]): Promise<boolean[]> {
    await this.assertFit(ids);
    return this.recordBy(({ live, staging }) => this.options.driver.add(live, staging, ids));
  }

  protected async ask(live: Resolved, ids: readonly IdKey[]): Promise<LookupOutcome[] | Outdated> {
    const { driver } = this.options;
    const idsPerCall = driver.idsPerCall(live);
    const calls = [];
    for (let at = 0; at < ids.length; at += idsPerCall) {
      calls.push(driver.check(live, ids.slice(at, at + idsPerCall), 'live'));
    }
    const replies = await Promise.all(calls);
    const refused = replies.find((reply) => typeof reply === 'string');
    return refused ?? outcomesOf((replies as BloomVerdict[][]).flat());
  }

  protected override notReady(state: BloomFilterState): BloomUnavailableError {
    const { name, keys, ownsKey, waitsForAdopt } = this.options;
    if (ownsKey) return notRecorded({ name, key: keys.data }, state);
    const isTakenAutomatically = state === 'unbuilt' && !waitsForAdopt;
    return new BloomUnavailableError(
      keyNotReady({ filter: name, key: keys.data, state }, isTakenAutomatically),
    );
  }

  private async takeAsItIs(): Promise<void> {
    const { metadata } = this.context;
    const adoption = await unavailable(metadata.adopt());
    const { name, keys } = this.options;
    switch (adoption.outcome) {
      case 'unfit':
        throw new BloomFormatError(adoption.reason);
      case 'missing':
        throw new BloomUnavailableError(noKeyToAdopt(name, keys.data));
      case 'stale':
      case 'adopted':
        // Stale: another process was faster, or the filter is ready.
        if ((await unavailable(metadata.reload())).live) return;
        throw new BloomUnavailableError(keepsChanging(name, 'adopt()'));
    }
  }
}
