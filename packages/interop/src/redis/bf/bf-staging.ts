import { BloomFullError, type IdKey } from 'nestjs-bloom/filter';
import { BloomRebuildError, type BloomVerdict, type LocalFilter } from 'nestjs-bloom/store';
import {
  assertOk,
  describeError,
  type Outdated,
  PIECE_BYTES,
  type Refusal,
  StagingBase,
  type StagingContext,
} from 'nestjs-bloom/internal';
import { redisBloomCodec } from '../../formats/redis-bloom-filter.js';
import type { StoredGeneration } from '../generation/generation-meta.js';
import type { GenerationSnapshot } from '../generation/generation-snapshot.js';
import type { DrivenContext, LayoutDriver } from '../generation/layout-driver.js';
import { notReplaced } from './bf.messages.js';
import { LocalChain } from './local-chain.js';
import type { ResolvedBf } from './resolved-bf.js';
import { type BfRefusal, type BfStep, journalOverflow, type BfScripts } from './bf-scripts.js';
import { localTarget, reserveArguments } from './reserve.js';
import { askCommands } from './server-commands.js';

/** Ids of one command of a rebuild. */
const IDS_PER_STEP = 512;
/** What is left of the journal for the swap, which holds the server while it adds them. */
const IDS_IN_SWAP = 256;
/** Rounds after which adds that come faster than they are replayed are left to the swap. */
const MAX_REPLAYS = 1000;

export interface BfStagingOptions {
  readonly driver: Pick<LayoutDriver<ResolvedBf>, 'check'>;
  readonly scripts: BfScripts;
  readonly staging: ResolvedBf;
}

/**
 * The next filter of `BF.*` commands beside the live one. `BF.LOADCHUNK` cannot add to what is there, so what
 * is added in the meantime goes into a journal, which is replayed into the staged filter: most of it before
 * the swap, the rest in the swap itself.
 */
export class BfStaging extends StagingBase<StoredGeneration, GenerationSnapshot<ResolvedBf>> {
  readonly capacity: number;
  readonly bytes: number;

  private readonly step: BfStep;
  private chain: LocalChain | undefined;
  private isUploaded = false;
  /** Ids of the journal that the staged filter has. */
  private replayed = 0;

  constructor(
    protected override readonly filter: DrivenContext<ResolvedBf>,
    context: StagingContext,
    private readonly options: BfStagingOptions,
  ) {
    super(filter, context);
    const { staging } = options;
    this.capacity = context.plan.capacity;
    this.bytes = redisBloomCodec.size(localTarget(staging)).bits / 8;
    this.step = { lease: context.lease, key: staging.key, lifeMs: context.lifeMs };
  }

  get local(): LocalFilter {
    return this.chain!;
  }

  ownKeys(): string[] {
    const { scripts, staging } = this.options;
    return [staging.key, scripts.journal(this.context.token)];
  }

  async merge(signal: AbortSignal): Promise<void> {
    await this.upload(signal);
    await this.replay(signal);
  }

  override async commit(ids: number): Promise<void> {
    await this.replay(this.context.signal);
    await super.commit(ids);
  }

  protected get generation(): StoredGeneration {
    return this.options.staging.generation;
  }

  protected async writeEmpty(): Promise<void> {
    const { scripts, staging } = this.options;
    const { plan, token } = this.context;
    const { canLoad } = await askCommands(scripts, this.filter.name).catch((cause: unknown) => {
      throw new BloomRebuildError('store-failed', describeError(cause), { cause });
    });
    this.chain = new LocalChain(staging, { maxIdBytes: plan.maxIdBytes, keepsIds: !canLoad });
    await this.context.claim(this.bytes);
    this.assertOk(await scripts.stage(this.step, token));
  }

  protected async read(ids: readonly IdKey[]): Promise<BloomVerdict[] | Outdated> {
    const { signal } = this.context;
    if (!this.isUploaded) await this.upload(signal);
    await this.replay(signal);
    return this.options.driver.check(this.options.staging, ids, 'staging');
  }

  protected async swap(live: ResolvedBf | undefined, ids: number): Promise<Refusal | 'OK'> {
    const { scripts, staging } = this.options;
    const { runId, replayed } = this;
    return this.checkType(await scripts.swap(this.step, { staging, runId, live, replayed, ids }));
  }

  protected retiredKeys(): string[] {
    return [this.filter.keys.retired(this.context.token)];
  }

  private async upload(signal: AbortSignal): Promise<void> {
    this.replayed = 0;
    this.isUploaded = true;
    const { scripts, staging } = this.options;
    const { filter, ids, isEmpty, overflow } = this.chain!;
    if (overflow) throw new BloomRebuildError('too-many-ids', overflow.message, { cause: overflow });
    if (isEmpty || ids) {
      assertOk(await scripts.reserve(this.step, reserveArguments(staging)));
      assertOk(await scripts.insert(this.step, staging.canaries));
      for (const batch of ids?.batches(IDS_PER_STEP) ?? []) {
        signal.throwIfAborted();
        assertOk(await scripts.insert(this.step, batch));
      }
      return;
    }
    for (const { iterator, data } of filter.chunks(PIECE_BYTES)) {
      signal.throwIfAborted();
      assertOk(await scripts.load(this.step, iterator, data));
    }
  }

  private assertOk(reply: BfRefusal | 'OK'): void {
    assertOk(this.checkType(reply));
  }

  /** @throws {BloomRebuildError} when the swap would destroy what is no filter. */
  private checkType(reply: BfRefusal | 'OK'): Refusal | 'OK' {
    if (reply !== 'TYPE') return reply;
    const { data } = this.filter.keys;
    throw new BloomRebuildError('store-failed', notReplaced(data));
  }

  private async replay(signal: AbortSignal): Promise<void> {
    for (let round = 0; round < MAX_REPLAYS; round++) {
      signal.throwIfAborted();
      const read = await this.replaySome();
      if (typeof read === 'string') return assertOk(read);
      this.replayed += read;
      if (read < IDS_IN_SWAP) return;
    }
  }

  private async replaySome(): Promise<Refusal | number> {
    const { token } = this.context;
    try {
      return await this.options.scripts.replay(this.step, {
        token,
        from: this.replayed,
        count: IDS_PER_STEP,
      });
    } catch (error) {
      throw error instanceof BloomFullError ? journalOverflow(error) : error;
    }
  }
}
