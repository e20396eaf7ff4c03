import { BloomFullError, type IdKey } from 'nestjs-bloom/filter';
import { BloomRebuildError, type BloomVerdict, type LocalFilter } from 'nestjs-bloom/store';
import {
  assertNotTooLong,
  assertOk,
  type Outdated,
  type Refusal,
  StagingBase,
  type StagingContext,
} from 'nestjs-bloom/internal';
import { cuckooCodec } from '../../formats/cuckoo-codec.js';
import type { CuckooFilter } from '../../formats/cuckoo-filter.js';
import type { StoredGeneration } from '../generation/generation-meta.js';
import type { GenerationSnapshot } from '../generation/generation-snapshot.js';
import { IdLog } from '../generation/id-log.js';
import type { DrivenContext, LayoutDriver } from '../generation/layout-driver.js';
import { STAGED_FULL } from './cf.messages.js';
import type { CfScripts } from './cf-scripts.js';
import type { ResolvedCf } from './resolved-cf.js';

/** Ids of one command of a rebuild. */
const IDS_PER_STEP = 256;

export interface CfStagingOptions {
  readonly driver: Pick<LayoutDriver<ResolvedCf>, 'check'>;
  readonly scripts: CfScripts;
  readonly staging: ResolvedCf;
}

/**
 * The next cuckoo filter beside the live one. What is read and what is added meanwhile are fingerprints of
 * their own, so both go in.
 */
export class CfStaging extends StagingBase<StoredGeneration, GenerationSnapshot<ResolvedCf>> {
  readonly capacity: number;
  readonly bytes: number;

  private scanned: LocalCuckoo | undefined;

  constructor(
    filter: DrivenContext<ResolvedCf>,
    context: StagingContext,
    private readonly options: CfStagingOptions,
  ) {
    super(filter, context);
    this.capacity = context.plan.capacity;
    this.bytes = options.staging.settings.slots;
  }

  get local(): LocalCuckoo {
    return (this.scanned ??= new LocalCuckoo(this.options.staging, this.context.plan.maxIdBytes));
  }

  ownKeys(): string[] {
    const { key, kept } = this.options.staging;
    return [key, kept];
  }

  async merge(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    for (const batch of this.local.take().batches(IDS_PER_STEP)) {
      signal.throwIfAborted();
      assertOk(await this.insert(batch));
    }
  }

  protected get generation(): StoredGeneration {
    return this.options.staging.generation;
  }

  protected async writeEmpty(): Promise<void> {
    await this.context.claim(this.bytes);
    assertOk(await this.options.scripts.stage(this.context, this.options.staging));
  }

  protected read(ids: readonly IdKey[]): Promise<BloomVerdict[] | Outdated> {
    return this.options.driver.check(this.options.staging, ids, 'staging');
  }

  protected swap(live: ResolvedCf | undefined, ids: number): Promise<Refusal | 'OK'> {
    const { scripts, staging } = this.options;
    return scripts.swap(staging, { lease: this.context.lease, runId: this.runId, live, ids });
  }

  protected retiredKeys(live: ResolvedCf | undefined): string[] {
    return live ? [live.key, live.kept] : [];
  }

  private async insert(batch: readonly Buffer[]): Promise<Refusal | 'OK'> {
    const { scripts, staging } = this.options;
    try {
      return await scripts.insert(this.context, staging, batch);
    } catch (error) {
      if (!(error instanceof BloomFullError)) throw error;
      throw new BloomRebuildError('too-many-ids', STAGED_FULL, { cause: error });
    }
  }
}

/** The ids of a scan, and a filter that knows which were met before. */
class LocalCuckoo implements LocalFilter {
  private readonly filter: CuckooFilter;
  private ids = new IdLog();
  private isFull = false;

  constructor(
    { settings }: ResolvedCf,
    private readonly maxIdBytes: number,
  ) {
    this.filter = cuckooCodec.create({ ...settings, capacity: settings.slots });
  }

  addKey(id: IdKey): boolean {
    assertNotTooLong(id, this.maxIdBytes);
    // One that seems to be there may be an error of the filter, and is no less an id.
    this.ids.append(id);
    try {
      return this.isFull || this.filter.addIfAbsent(id);
    } catch (error) {
      // Every further id counts as one more than planned, by which the scan knows that it has to plan again.
      if (!(error instanceof BloomFullError)) throw error;
      this.isFull = true;
      return true;
    }
  }

  /** What was read since this was called last. */
  take(): IdLog {
    const { ids } = this;
    this.ids = new IdLog();
    return ids;
  }
}
