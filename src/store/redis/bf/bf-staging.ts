import { BloomFullError, BloomRebuildError, describeError } from '../../../common/index.js';
import { type IdKey, LAYOUT_NUMBERS, redisBloom } from '../../../filter/index.js';
import type { BloomVerdict, LocalFilter } from '../../index.js';
import type { LayoutDriver, StagingHost } from '../protocol/layout-driver.js';
import type { LeasedStaging, StagingContext } from '../protocol/leased-staging.js';
import type { Refusal } from '../protocol/refusal.js';
import { commitSwap, assertOk } from '../protocol/swap-steps.js';
import { LocalChain } from './local-chain.js';
import type { ResolvedBf } from './resolved-bf.js';
import { type BfRefusal, type BfStep, journalTooLong, type BfScripts } from './bf-scripts.js';
import { localDemand, reserveArguments } from './reserve.js';
import { findCommands } from './server-commands.js';

/** What one command of a rebuild moves: Redis serves other clients in between. */
const PIECE_BYTES = 256 * 1024;
/** Ids of one command of a rebuild. */
const IDS_PER_STEP = 512;
/** What is left of the journal for the swap, which holds the server while it adds them. */
const IDS_IN_SWAP = 256;
/** Rounds after which adds that come faster than they are replayed are left to the swap. */
const MAX_REPLAYS = 1000;

export interface RedisBloomStagingOptions {
  readonly driver: Pick<LayoutDriver<ResolvedBf>, 'check'>;
  readonly scripts: BfScripts;
  readonly resolved: ResolvedBf;
  readonly ticket: StagingContext;
  readonly host: StagingHost<ResolvedBf>;
}

/**
 * The next filter beside the live one. `BF.LOADCHUNK` cannot add to what is there, so what is added in the meantime goes into a
 * journal, which is replayed into the staged filter: most of it before the swap, the rest in the swap itself.
 */
export class BfStaging implements LeasedStaging {
  /** Other processes add too, and nobody notes when. */
  readonly quietMs = 0;
  readonly capacity: number;
  readonly bytes: number;

  private readonly step: BfStep;
  private chain: LocalChain | undefined;
  private runId = '';
  private isPushed = false;
  /** Ids of the journal that the staged filter has. */
  private replayed = 0;

  constructor(private readonly options: RedisBloomStagingOptions) {
    const { resolved, ticket } = options;
    this.capacity = ticket.plan.capacity;
    this.bytes = redisBloom.size(localDemand(resolved)).bits / 8;
    this.step = { lease: ticket.lease, staged: resolved.key, lifeMs: ticket.lifeMs };
  }

  get local(): LocalFilter {
    return this.chain!;
  }

  keysToRenew(): string[] {
    const { scripts, resolved, ticket } = this.options;
    return [resolved.key, scripts.journal(ticket.token)];
  }

  async open(): Promise<void> {
    const { scripts, resolved, ticket, host } = this.options;
    const { canLoad } = await findCommands(scripts, host.name).catch((cause: unknown) => {
      throw new BloomRebuildError('store-failed', describeError(cause), { cause });
    });
    this.chain = new LocalChain(resolved, { maxIdBytes: ticket.plan.maxIdBytes, keepsIds: !canLoad });
    this.runId = (await host.views.reload()).runId;
    await ticket.claim(this.bytes);
    this.assertOk(await scripts.stage(this.step, ticket.token));
    const { lease } = ticket;
    const { generation } = resolved;
    const made = { lease, runId: this.runId, generation, layout: LAYOUT_NUMBERS.redisbloom };
    const reply = await host.scripts.publish(host.keys, made);
    host.views.forget();
    assertOk(reply);
  }

  async merge(signal: AbortSignal): Promise<void> {
    await this.push(signal);
    await this.replay(signal);
  }

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const { signal } = this.options.ticket;
    if (!this.isPushed) await this.push(signal);
    await this.replay(signal);
    const reply = await this.options.driver.check(this.options.resolved, ids, 'staged');
    return typeof reply === 'string' ? ids.map(() => 'unknown') : reply;
  }

  async commit(ids: number): Promise<void> {
    const { scripts, resolved, ticket, host } = this.options;
    await this.replay(ticket.signal);
    const { name, emit, views } = host;
    await commitSwap({
      name,
      emit,
      views,
      swap: async ({ live }) =>
        this.checkType(
          await scripts.swap(this.step, {
            resolved,
            runId: this.runId,
            oldToken: live?.generation.token ?? '',
            replayed: this.replayed,
            ids,
          }),
        ),
      isLive: ({ live }) => live?.generation.token === ticket.token,
    });
    await views.remove([host.keys.aside(ticket.token)]);
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

  private async push(signal: AbortSignal): Promise<void> {
    this.replayed = 0;
    this.isPushed = true;
    const { scripts, resolved } = this.options;
    const { filter, ids, isEmpty, overflow } = this.chain!;
    if (overflow) throw new BloomRebuildError('too-many-ids', overflow.message, { cause: overflow });
    if (isEmpty || ids) {
      assertOk(await scripts.reserve(this.step, reserveArguments(resolved)));
      assertOk(await scripts.insert(this.step, resolved.canaries));
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
    const { data } = this.options.host.keys;
    throw new BloomRebuildError(
      'store-failed',
      `Expected key '${data}' to hold a filter of BF.* commands, or nothing, got a key of another type. It was left alone: name ` +
        'another key in layout.key, or delete this one.',
    );
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
    const { scripts, ticket } = this.options;
    try {
      const { token } = ticket;
      return await scripts.replay(this.step, { token, from: this.replayed, count: IDS_PER_STEP });
    } catch (error) {
      throw error instanceof BloomFullError ? journalTooLong(error) : error;
    }
  }
}
