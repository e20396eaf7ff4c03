import { BloomFullError, BloomRebuildError } from '../../../common/index.js';
import {
  cuckoo,
  type CuckooFilter,
  type IdKey,
  isLongerThan,
  LAYOUT_NUMBERS,
  tooLong,
} from '../../../filter/index.js';
import type { BloomVerdict, LocalFilter } from '../../index.js';
import type { LayoutDriver, StagingHost } from '../protocol/layout-driver.js';
import type { LeasedStaging, StagingContext } from '../protocol/leased-staging.js';
import { IdLog } from '../protocol/id-log.js';
import type { Refusal } from '../protocol/refusal.js';
import { commitSwap, assertOk } from '../protocol/swap-steps.js';
import type { CuckooScripts } from './cuckoo-scripts.js';
import type { ResolvedCuckoo } from './resolved-cuckoo.js';

/** Ids of one command of a rebuild. */
const IDS_PER_STEP = 256;

export interface CuckooStagingOptions {
  readonly driver: Pick<LayoutDriver<ResolvedCuckoo>, 'check'>;
  readonly scripts: CuckooScripts;
  readonly resolved: ResolvedCuckoo;
  readonly ticket: StagingContext;
  readonly host: StagingHost<ResolvedCuckoo>;
  readonly ownKeys: readonly string[];
}

/** The next cuckoo filter beside the live one. What is read and what is added meanwhile are fingerprints of their own, so both go in. */
export class CuckooStaging implements LeasedStaging {
  /** Other processes add too, and nobody notes when. */
  readonly quietMs = 0;
  readonly capacity: number;
  readonly bytes: number;

  private scanned: LocalCuckoo | undefined;
  private runId = '';

  constructor(private readonly options: CuckooStagingOptions) {
    this.capacity = options.ticket.plan.capacity;
    this.bytes = options.resolved.settings.slots;
  }

  get local(): LocalCuckoo {
    const { resolved, ticket } = this.options;
    return (this.scanned ??= new LocalCuckoo(resolved, ticket.plan.maxIdBytes));
  }

  keysToRenew(): string[] {
    return [...this.options.ownKeys];
  }

  async open(): Promise<void> {
    const { scripts, resolved, ticket, host } = this.options;
    this.runId = (await host.views.reload()).runId;
    await ticket.claim(this.bytes);
    assertOk(await scripts.stage(ticket, resolved));
    const made = { lease: ticket.lease, runId: this.runId, generation: resolved.generation };
    const reply = await host.scripts.publish(host.keys, { ...made, layout: LAYOUT_NUMBERS.cuckoo });
    host.views.forget();
    assertOk(reply);
  }

  async merge(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    for (const batch of this.local.take().batches(IDS_PER_STEP)) {
      signal.throwIfAborted();
      assertOk(await this.insert(batch));
    }
  }

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const reply = await this.options.driver.check(this.options.resolved, ids, 'staged');
    return typeof reply === 'string' ? ids.map(() => 'unknown') : reply;
  }

  async commit(ids: number): Promise<void> {
    const { scripts, resolved, ticket, host } = this.options;
    const { lease, token } = ticket;
    const view = await commitSwap({
      ...host,
      swap: ({ live }) => scripts.swap(resolved, { lease, runId: this.runId, before: live, ids }),
      isLive: ({ live }) => live?.generation.token === token,
    });
    if (view.live) await host.views.remove([view.live.key, view.live.kept]);
  }

  async abort(): Promise<void> {
    const { ticket, host } = this.options;
    try {
      await host.scripts.withdraw(host.keys, ticket.token);
    } finally {
      host.views.forget();
      await host.views.removeStaged(this.keysToRenew());
    }
  }

  private async insert(batch: readonly Buffer[]): Promise<Refusal | 'OK'> {
    const { scripts, resolved, ticket } = this.options;
    try {
      return await scripts.insert(ticket, resolved, batch);
    } catch (error) {
      if (!(error instanceof BloomFullError)) throw error;
      throw new BloomRebuildError(
        'too-many-ids',
        'The staged cuckoo filter has no room for the ids of the source and those that were added meanwhile. Raise its capacity, or let it ' +
          'grow (layout.expansion).',
        { cause: error },
      );
    }
  }
}

/** The ids of a scan, and a filter that tells which were met before. */
class LocalCuckoo implements LocalFilter {
  private readonly filter: CuckooFilter;
  private ids = new IdLog();
  private isFull = false;

  constructor(
    { settings }: ResolvedCuckoo,
    private readonly maxIdBytes: number,
  ) {
    this.filter = cuckoo.create({ ...settings, capacity: settings.slots });
  }

  addKey(id: IdKey): boolean {
    if (isLongerThan(id, this.maxIdBytes)) throw tooLong(this.maxIdBytes);
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
