import { BloomFormatError, BloomUnavailableError } from '../../../common/index.js';
import { MetadataCache, type CachedFilter } from './metadata-cache.js';
import { removeKeys, removeStagedKeys } from './remove-keys.js';
import type { Adoption, GenerationRole, ViewDriver } from './layout-driver.js';
import type { GenerationKeys } from './generation-keys.js';
import {
  GENERATION_FORMAT,
  type StoredGeneration,
  type KnownCompanionMeta,
  parseGenerationMeta,
} from './generation-meta.js';
import type { GenerationScripts } from './generation-scripts.js';
import type { GenerationSnapshot, ResolvedGeneration } from './generation-snapshot.js';

/** In which states a filter is taken as it is only if somebody says so. */
const GIVEN_UP = ['lost', 'suspect'];

export interface CompanionViewsOptions<Resolved extends ResolvedGeneration> extends Omit<
  CachedFilter,
  'key'
> {
  readonly keys: GenerationKeys;
  readonly companion: GenerationScripts;
  readonly driver: ViewDriver<Resolved>;
  /** Whether the filter can be rebuilt: what was lost is read again. */
  readonly hasSource: boolean;
  /** Whether a filter that was never seen is taken as others have left it. */
  readonly adopts: boolean;
  /** Whether nobody else makes the filter, so that every live generation is a build and is counted as one. */
  readonly ownsKey: boolean;
  readonly trustAfterFailover: boolean;
}

/** Reads, caches and guards the metadata of a filter on keys of others, takes it offline, and takes it as it is. */
export class GenerationMetadataCache<Resolved extends ResolvedGeneration> extends MetadataCache<
  GenerationSnapshot<Resolved>
> {
  /** As this process has seen it last: metadata that are missing were lost then. */
  private lastLive: StoredGeneration | undefined;
  private lastBuilds = 0;
  private toldUnfit = '';

  constructor(private readonly options: CompanionViewsOptions<Resolved>) {
    super({ ...options, key: options.keys.meta });
  }

  /** Makes every process answer `unknown`, unless the filter is another one by now. */
  async takeOffline(
    view: GenerationSnapshot<Resolved>,
    state: 'lost' | 'suspect',
    reason: string,
  ): Promise<void> {
    await this.offline(view.live?.generation, state, reason);
  }

  /** Takes the filter as others have left it, whatever it was before; only one that is ready stays as it is. */
  async adopt(): Promise<Adoption> {
    await this.reload();
    const adoption = await this.options.driver.adopt(['unbuilt', ...GIVEN_UP]);
    await this.reload();
    return adoption;
  }

  /** Removes keys a few at a time, so that no other client waits for many. */
  remove(keys: readonly string[]): Promise<void> {
    return this.cleanUp(removeKeys, keys);
  }

  /** The same for the keys of a staging that was given up: what went live all the same stays. */
  removeStaged(keys: readonly string[]): Promise<void> {
    return this.cleanUp(removeStagedKeys, keys);
  }

  protected async load(isKnown: boolean): Promise<GenerationSnapshot<Resolved>> {
    const { driver, name, hasSource, trustAfterFailover } = this.options;
    for (let attempt = 0; attempt < 3; attempt++) {
      const { server, runId, readAt, type, fields } = await this.describe(isKnown && attempt === 0);
      const isReplaced = this.isReplaced(server, runId) && !trustAfterFailover;
      this.ownership.assertOurs(fields);
      const meta = parseGenerationMeta(type, fields, driver.layout);
      if (meta.kind === 'other') throw this.newer(meta.found, GENERATION_FORMAT);
      if (meta.kind === 'nonsense') {
        const reason = `The metadata make no sense (${meta.fault}).`;
        await this.offline({ token: meta.token }, 'lost', reason, true);
        continue;
      }
      if (meta.kind === 'missing' && this.lastLive) {
        await this.offline(undefined, 'lost', 'The metadata are gone.');
        continue;
      }
      if (meta.kind === 'known' && meta.state === 'unbuilt' && this.lastLive && !hasSource) {
        // Who knew nothing of the filter is making it again, empty: its staging must not go live.
        const reason = 'The metadata were gone, and are being made again.';
        await this.offline({ token: '' }, 'lost', reason, true);
        continue;
      }
      const known = meta.kind === 'known' ? meta : undefined;
      const isMadeAgain = known?.live && this.isMadeAgain(known.live, known.builds);
      this.lastLive = known?.live ?? this.lastLive;
      if (known?.live && isMadeAgain) {
        await this.offline(
          known.live,
          'lost',
          'The filter was lost, and made again by a process that did not know it.',
        );
        continue;
      }
      if (known?.live) this.lastBuilds = known.builds;
      if (known?.live && (isReplaced || this.isSuspect(known.runId, runId))) {
        const reason = 'The server restarted or failed over and may have lost ids that it had acknowledged.';
        await this.offline(known.live, 'suspect', reason);
        continue;
      }
      if ((known?.state ?? 'unbuilt') === 'unbuilt' && (await this.isAdopted())) continue;
      const resolved = known && this.resolved(known);
      if (resolved === 'nonsense') {
        const reason = 'The metadata make no sense (settings).';
        await this.offline({ token: known!.live?.token ?? '' }, 'lost', reason, true);
        continue;
      }
      const view = this.view(known, resolved, { runId, server, readAt });
      this.judge(known?.areCountsBelieved ?? true);
      this.see(
        view.description.state,
        view.live ? 'A generation went live.' : 'Another process found it so.',
      );
      return view;
    }
    throw new BloomUnavailableError(`The metadata of filter '${name}' keep changing.`);
  }

  private async cleanUp(remove: typeof removeKeys, keys: readonly string[]): Promise<void> {
    const { connection, emit, name } = this.options;
    try {
      await remove(connection, keys);
    } catch (error) {
      emit({ type: 'clean-up-failed', filter: name, error });
    }
  }

  private async offline(
    live: Pick<StoredGeneration, 'token'> | undefined,
    state: 'lost' | 'suspect',
    reason: string,
    nonsense = false,
  ): Promise<void> {
    const { companion, keys, driver } = this.options;
    this.forget();
    const token = live?.token ?? '';
    if (!(await companion.offline(keys, { token, state, nonsense, builds: this.lastBuilds }))) return;
    this.tell(state, reason);
    if (!this.lastLive) return;
    await driver.retire?.(this.lastLive);
    await this.remove(driver.ownKeys?.(this.lastLive) ?? []);
  }

  /** Whether the filter, which was never seen before, has been taken as it is. */
  private async isAdopted(): Promise<boolean> {
    const { adopts, driver, emit, name } = this.options;
    if (!adopts) return false;
    const adoption = await driver.adopt(['unbuilt']);
    if (adoption.outcome === 'unfit' && this.toldUnfit !== adoption.reason) {
      this.toldUnfit = adoption.reason;
      const error = new BloomFormatError(adoption.reason);
      emit({ type: 'store-error', filter: name, operation: 'take the key as it is', error });
    }
    return adoption.outcome === 'adopted' || adoption.outcome === 'stale';
  }

  private isSuspect(builtOn: string, now: string): boolean {
    return !this.options.trustAfterFailover && builtOn !== '' && now !== '' && builtOn !== now;
  }

  /** Every build counts on from the last one. With a source all ids are in the new filter as well. */
  private isMadeAgain(live: StoredGeneration, builds: number): boolean {
    const { hasSource, ownsKey, trustAfterFailover, driver } = this.options;
    if (hasSource || !ownsKey || trustAfterFailover || !this.lastLive) return false;
    const originOf = (generation: StoredGeneration) => driver.originOf?.(generation) ?? generation.token;
    return originOf(live) !== originOf(this.lastLive) && builds <= this.lastBuilds;
  }

  private resolved(meta: KnownCompanionMeta): PlacedPair<Resolved> | 'nonsense' {
    const place = (generation: StoredGeneration | undefined, role: GenerationRole) =>
      generation && (this.options.driver.place(generation, role) ?? 'nonsense');
    const live = place(meta.live, 'live');
    const staged = place(meta.pending, 'staged');
    return live === 'nonsense' || staged === 'nonsense' ? 'nonsense' : { live, staged };
  }

  private view(
    meta: KnownCompanionMeta | undefined,
    resolved: PlacedPair<Resolved> | undefined,
    read: Pick<GenerationSnapshot<Resolved>, 'runId' | 'server' | 'readAt'>,
  ): GenerationSnapshot<Resolved> {
    return {
      ...read,
      live: resolved?.live,
      staged: resolved?.staged,
      description: {
        state: meta?.state ?? 'unbuilt',
        builds: meta?.builds ?? 0,
        builtIds: meta?.ids ?? 0,
        capacity: meta?.capacity ?? 0,
        errorRate: meta?.errorRate ?? 0,
        builtAt: meta?.builtAt,
        rebuilding: meta?.pending !== undefined,
      },
    };
  }
}

interface PlacedPair<Resolved> {
  readonly live: Resolved | undefined;
  readonly staged: Resolved | undefined;
}
