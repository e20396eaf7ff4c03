import { BloomRebuildError } from '../../../common/index.js';
import { type IdKey, LAYOUT_NUMBERS } from '../../../filter/index.js';
import type { BloomVerdict } from '../../index.js';
import type { StagingHost } from '../protocol/layout-driver.js';
import { liveFields } from '../protocol/generation-meta.js';
import type { GenerationSnapshot } from '../protocol/generation-snapshot.js';
import type { LeasedStaging, StagingContext } from '../protocol/leased-staging.js';
import type { Refusal } from '../protocol/refusal.js';
import { commitSwap, assertOk } from '../protocol/swap-steps.js';
import type { BitmapSize } from './bitmap-format.js';
import type { BitsFilter, BitmapReader } from './bitmap-reader.js';
import type { BitRefusal } from './bitmap-scripts.js';
import { LocalBitmap } from './local-bitmap.js';
import { canariesOf, resolveBitmap, type ResolvedBitmap } from './resolved-bitmap.js';

/** What one command of a rebuild moves: Redis serves other clients in between. */
const PIECE_BYTES = 256 * 1024;
/** How often staging starts over when the filter changed under it. */
const MAX_ATTEMPTS = 5;

/** The next string of a filter whose live string peers read and write. */
export class BitmapStaging implements LeasedStaging {
  /** Other processes add too, and nobody notes when. */
  readonly quietMs = 0;

  private readonly staged: string;
  private readonly snapshot: string;
  private resolved: ResolvedBitmap | undefined;
  private size: BitmapSize | undefined;
  private scanned: LocalBitmap | undefined;
  private runId = '';
  private isMarked = false;
  /** Whether the live string may be there because of this staging alone. */
  private mayHaveMade = false;
  /** The settings that the peers had when the staging was made. */
  private found: BitmapSize | undefined;

  constructor(
    private readonly filter: BitsFilter,
    private readonly reader: BitmapReader,
    private readonly host: StagingHost<ResolvedBitmap>,
    private readonly ticket: StagingContext,
  ) {
    this.staged = host.keys.staged(ticket.token);
    this.snapshot = host.keys.beside(ticket.token, 'snapshot');
  }

  get capacity(): number {
    return this.planned.takes;
  }

  get bytes(): number {
    return this.opened.length;
  }

  /** Made when the scan begins: the drain before it needs no memory. */
  get local(): LocalBitmap {
    const { format, plan } = this.filter;
    return (this.scanned ??= new LocalBitmap(format.emptyFilter(this.planned), plan.maxIdBytes));
  }

  keysToRenew(): string[] {
    return [this.staged, this.snapshot];
  }

  async open(): Promise<void> {
    const { host, ticket } = this;
    for (let attempt = 1; ; attempt++) {
      const reply = await this.prepare(await host.views.reload());
      host.views.forget();
      if (reply === 'STALE' && attempt < MAX_ATTEMPTS) continue;
      this.isMarked = reply === 'MARKED';
      if (reply !== 'MARKED') this.assertOk(reply);
      break;
    }
    const reply = await host.scripts.publish(host.keys, {
      lease: ticket.lease,
      runId: this.runId,
      generation: this.opened.generation,
      layout: LAYOUT_NUMBERS[this.filter.format.kind],
    });
    host.views.forget();
    assertOk(reply);
  }

  async merge(signal: AbortSignal): Promise<void> {
    const { lease, token } = this.ticket;
    const { opened, local } = this;
    const scratch = this.host.keys.beside(token, 'scratch');
    const { headBytes } = this.filter.format;
    const bytes = opened.length - headBytes;
    for (let from = 0; from < bytes; from += PIECE_BYTES) {
      signal.throwIfAborted();
      const piece = local.piece(from, Math.min(from + PIECE_BYTES, bytes));
      if (!piece) continue;
      const at = headBytes + from;
      this.assertOk(await this.filter.scripts.merge(opened, { lease, scratch, from: at, piece }));
    }
  }

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const verdicts: BloomVerdict[] = [];
    const idsPerCall = this.reader.idsPerCall(this.opened.layout.hashCount);
    for (let at = 0; at < ids.length; at += idsPerCall) {
      const some = ids.slice(at, at + idsPerCall);
      const reply = await this.reader.check(this.opened, some, 'staged');
      verdicts.push(...(typeof reply === 'string' ? some.map(() => 'unknown' as const) : reply));
    }
    return verdicts;
  }

  async commit(ids: number): Promise<void> {
    const { host, ticket } = this;
    const aside = host.keys.aside(ticket.token);
    await commitSwap({
      ...host,
      swap: (view) => this.swap(view.live?.generation.token ?? '', aside, ids),
      isLive: (view) => view.live?.generation.token === ticket.token,
    });
    await host.views.remove([aside, this.snapshot]);
  }

  async abort(): Promise<void> {
    const { keys, scripts, views } = this.host;
    try {
      await scripts.withdraw(keys, this.ticket.token);
      if (this.mayHaveMade) await this.filter.scripts.unmake(this.opened, this.ticket.lease);
    } finally {
      views.forget();
      await views.removeStaged(this.keysToRenew());
    }
  }

  /** Makes the empty string, and marks the live one so that its loss is noticed by the swap. */
  private async prepare(view: GenerationSnapshot<ResolvedBitmap>): Promise<BitRefusal | 'OK' | 'MARKED'> {
    const { filter, host, ticket } = this;
    const { format, scripts, foreignAdds } = filter;
    const { lease, token, lifeMs, plan } = ticket;
    this.runId = view.runId;
    this.found = await this.reader.find();
    this.size = format.plan(plan, this.found);
    const canaries = canariesOf(host.keys.data, this.size, format.headBytes);
    this.resolved = resolveBitmap({ format, key: this.staged, geometry: this.size, canaries, token });
    const isKept = foreignAdds !== 'none' && this.hasSamePlaces;
    // Where peers keep settings, they add nothing without them.
    const isMade = format.readsMissingAsEmpty && this.found !== undefined;
    await this.claim(isKept && isMade);
    this.mayHaveMade = isKept && isMade;
    return scripts.stage(this.resolved, {
      lease,
      live: view.live,
      snapshot: this.snapshot,
      lifeMs,
      mark: isKept ? (isMade ? 'make' : 'mark') : 'leave',
      wantsSnapshot: foreignAdds === 'recent',
      hasFixedSize: format.fixed !== undefined,
      found: this.decisiveFound,
    });
  }

  /** What is written at most: the staged string, a snapshot of the live one, what that lacks, and the piece that is merged. */
  private async claim(makesLive: boolean): Promise<void> {
    const { length } = this.opened;
    const { scripts, format, foreignAdds } = this.filter;
    const lacking = makesLive ? Math.max(0, length - (await scripts.probe(format.headBytes)).length) : 0;
    const snapshot = foreignAdds === 'recent' ? length : 0;
    await this.ticket.claim(length + snapshot + lacking + 2 * Math.min(length, PIECE_BYTES));
  }

  private async swap(old: string, aside: string, ids: number): Promise<Refusal | 'OK'> {
    const { ticket, runId, planned, opened } = this;
    const { format, foreignAdds, scripts } = this.filter;
    const capacity = planned.takes === Infinity ? ticket.plan.capacity : planned.takes;
    const reply = await scripts.swap(opened, {
      lease: ticket.lease,
      runId,
      old,
      aside,
      snapshot: this.snapshot,
      scratch: this.host.keys.beside(ticket.token, 'scratch'),
      foreignAdds,
      hasSamePlaces: this.hasSamePlaces,
      isMarked: this.isMarked,
      found: this.decisiveFound,
      settings: format.settings(planned),
      fields: liveFields(opened.generation, LAYOUT_NUMBERS[format.kind], {
        runId,
        ids,
        capacity,
        errorRate: planned.demand.errorRate,
      }),
    });
    if (reply === 'TYPE' || reply === 'SETTINGS' || reply === 'LIVE') this.assertOk(reply);
    return reply as Refusal | 'OK';
  }

  /** Whether the live bits are where they are in the staged string. Without settings the scripts compare length and head. */
  private get hasSamePlaces(): boolean {
    const { found, planned } = this;
    if (this.filter.format.settingsKey === undefined) return true;
    return found?.bits === planned.bits && found.hashCount === planned.hashCount;
  }

  /** Of settings that peers keep in a key of their own. */
  private get decisiveFound(): string[] {
    const { format } = this.filter;
    return format.settingsKey !== undefined && this.found ? format.decisive(this.found) : [];
  }

  private get planned(): BitmapSize {
    if (!this.size) throw new Error('The staging is not open.');
    return this.size;
  }

  private get opened(): ResolvedBitmap {
    if (!this.resolved) throw new Error('The staging is not open.');
    return this.resolved;
  }

  private assertOk(reply: BitRefusal | 'OK'): void {
    const { data } = this.host.keys;
    if (reply === 'TYPE') {
      throw new BloomRebuildError(
        'store-failed',
        `Expected key '${data}' to hold a filter of ${this.planned.bits} bits, or nothing, got another type, a string of another size, or one without ` +
          'the settings of its owner. It was left alone: name the key of the filter, and the number of bits that its owner uses, or delete it.',
      );
    }
    if (reply === 'LIVE') {
      throw new BloomRebuildError(
        'staging-damaged',
        `Key '${data}' vanished or was replaced during the rebuild, and what others had added to it is not known. Rebuild again.`,
      );
    }
    if (reply === 'SETTINGS') {
      throw new BloomRebuildError(
        'store-failed',
        `Somebody initialised the filter '${data}' anew during the rebuild. It was left alone; rebuild again.`,
      );
    }
    assertOk(reply);
  }
}
