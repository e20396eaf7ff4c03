import type { IdKey } from 'nestjs-bloom/filter';
import {
  asBuffer,
  assertNotTooLong,
  assertOk,
  MAX_ATTEMPTS,
  type Outdated,
  PIECE_BYTES,
  type Refusal,
  StagingBase,
  type StagingContext,
} from 'nestjs-bloom/internal';
import { BloomRebuildError, type BloomVerdict, type LocalFilter } from 'nestjs-bloom/store';
import type { BitmapFilter, BitmapLayout } from '../../formats/bitmap-filter.js';
import { LAYOUT_NUMBERS } from '../../formats/layout-numbers.js';
import { liveFields, type StoredGeneration } from '../generation/generation-meta.js';
import type { GenerationSnapshot } from '../generation/generation-snapshot.js';
import type { DrivenContext } from '../generation/layout-driver.js';
import type { BitmapContext, BitmapRefusal } from './bitmap-scripts.js';
import type { BitmapSize } from './bitmap-format.js';
import type { BitmapReader } from './bitmap-reader.js';
import {
  initialisedInRebuild,
  notThisFilter,
  replacedInRebuild,
  STAGING_NOT_OPEN,
} from './bitmap.messages.js';
import { canariesOf, resolveBitmap, type ResolvedBitmap } from './resolved-bitmap.js';

/** What a scan reads, in the bit order of the peers. */
class LocalBitmap implements LocalFilter {
  constructor(
    private readonly filter: BitmapFilter<BitmapLayout>,
    private readonly maxIdBytes: number,
  ) {}

  addKey(id: IdKey): boolean {
    assertNotTooLong(id, this.maxIdBytes);
    return this.filter.add(id);
  }

  /** Bytes of the bitmap, not copied; undefined when none of their bits is set. */
  piece(from: number, to: number): Buffer | undefined {
    const piece = asBuffer(this.filter.piece(from, to));
    return piece.some((byte) => byte !== 0) ? piece : undefined;
  }
}

interface BitmapStagingOptions {
  readonly bitmap: BitmapContext;
  readonly reader: BitmapReader;
}

/** The next string of a filter whose live string peers read and write. */
export class BitmapStaging extends StagingBase<StoredGeneration, GenerationSnapshot<ResolvedBitmap>> {
  private readonly key: string;
  private resolved: ResolvedBitmap | undefined;
  private size: BitmapSize | undefined;
  private scanned: LocalBitmap | undefined;
  private isMarked = false;
  /** Token of the generation whose string was marked. */
  private markedToken: string | undefined;
  /** Whether the live string may be there because of this staging alone. */
  private mayHaveCreated = false;
  /** The settings that the peers had when the staging was made. */
  private found: BitmapSize | undefined;

  constructor(
    protected override readonly filter: DrivenContext<ResolvedBitmap>,
    context: StagingContext,
    private readonly options: BitmapStagingOptions,
  ) {
    super(filter, context);
    this.key = filter.keys.staging(context.token);
  }

  get capacity(): number {
    return this.planned.rebuildCapacity;
  }

  get bytes(): number {
    return this.opened.length;
  }

  /** Made when the scan begins: the drain before it needs no memory. */
  get local(): LocalBitmap {
    const { format, plan } = this.options.bitmap;
    return (this.scanned ??= new LocalBitmap(format.emptyFilter(this.planned), plan.maxIdBytes));
  }

  ownKeys(): string[] {
    return [this.key];
  }

  async merge(signal: AbortSignal): Promise<void> {
    const { lease } = this.context;
    const { opened, local, scratch } = this;
    const { format, scripts } = this.options.bitmap;
    const { headBytes } = format;
    const bytes = opened.length - headBytes;
    for (let from = 0; from < bytes; from += PIECE_BYTES) {
      signal.throwIfAborted();
      const piece = local.piece(from, Math.min(from + PIECE_BYTES, bytes));
      if (!piece) continue;
      const at = headBytes + from;
      this.assertOk(await scripts.merge(opened, { lease, scratch, from: at, piece }));
    }
  }

  protected get generation(): StoredGeneration {
    return this.opened.generation;
  }

  protected async writeEmpty(snapshot: GenerationSnapshot<ResolvedBitmap>): Promise<void> {
    const { metadata } = this.filter;
    let known = snapshot;
    for (let attempt = 1; ; attempt++) {
      this.runId = known.runId;
      const reply = await this.prepare(known.live);
      metadata.forget();
      this.isMarked = reply === 'MARKED';
      this.markedToken = this.isMarked ? known.live?.generation.token : undefined;
      if (reply === 'MARKED') return;
      if (reply !== 'STALE' || attempt === MAX_ATTEMPTS) return this.assertOk(reply);
      known = metadata.asStored(await metadata.reload());
    }
  }

  protected async read(ids: readonly IdKey[]): Promise<BloomVerdict[] | Outdated> {
    const { reader } = this.options;
    const verdicts: BloomVerdict[] = [];
    const idsPerCall = reader.idsPerCall(this.opened.layout.hashCount);
    for (let at = 0; at < ids.length; at += idsPerCall) {
      const reply = await reader.check(this.opened, ids.slice(at, at + idsPerCall), 'staging');
      if (typeof reply === 'string') return reply;
      verdicts.push(...reply);
    }
    return verdicts;
  }

  protected retiredKeys(): string[] {
    return [this.retired];
  }

  protected override async withdraw(): Promise<void> {
    await super.withdraw();
    if (this.mayHaveCreated) await this.options.bitmap.scripts.unmake(this.opened, this.context.lease);
  }

  /** Makes the empty string, and marks the live one so that its loss is noticed by the swap. */
  private async prepare(live: ResolvedBitmap | undefined): Promise<BitmapRefusal | 'OK' | 'MARKED'> {
    const { bitmap, reader } = this.options;
    const { format, scripts, foreignAdds } = bitmap;
    const { lease, token, lifeMs, plan } = this.context;
    this.found = await reader.find();
    this.size = format.plan(plan, this.found);
    const canaries = canariesOf(this.filter.keys.data, this.size, format.headBytes);
    this.resolved = resolveBitmap({ format, key: this.key, geometry: this.size, canaries, token });
    const isKept = foreignAdds === 'keep' && this.hasSamePositions;
    // Where peers keep settings, they add nothing without them.
    const isMade = format.readsMissingAsEmpty && this.found !== undefined;
    await this.claim(isKept && isMade);
    this.mayHaveCreated = isKept && isMade;
    return scripts.stage(this.resolved, {
      lease,
      live,
      lifeMs,
      mark: isKept ? (isMade ? 'make' : 'mark') : 'leave',
      hasFixedSize: format.fixed !== undefined,
      found: this.foundGeometryFields,
    });
  }

  /** What is written at most: the staged string, what the live one lacks, and the piece that is merged. */
  private async claim(makesLive: boolean): Promise<void> {
    const { length } = this.opened;
    const { scripts, format } = this.options.bitmap;
    const lacking = makesLive ? Math.max(0, length - (await scripts.find(format.headBytes)).length) : 0;
    await this.context.claim(length + lacking + 2 * Math.min(length, PIECE_BYTES));
  }

  protected async swap(live: ResolvedBitmap | undefined, ids: number): Promise<Refusal | 'OK'> {
    const { runId, planned, opened } = this;
    // It went offline since: its string may be an older copy, which has the marks and lacks what peers have
    // added.
    if (this.markedToken !== undefined && live?.generation.token !== this.markedToken) this.assertOk('LIVE');
    const { lease, plan } = this.context;
    const { format, foreignAdds, scripts } = this.options.bitmap;
    const capacity = planned.rebuildCapacity === Infinity ? plan.capacity : planned.rebuildCapacity;
    const reply = await scripts.swap(opened, {
      lease,
      runId,
      live,
      retired: this.retired,
      foreignAdds,
      hasSamePositions: this.hasSamePositions,
      isMarked: this.isMarked,
      found: this.foundGeometryFields,
      settings: format.settings(planned),
      fields: liveFields(opened.generation, LAYOUT_NUMBERS[format.kind], {
        runId,
        ids,
        capacity,
        errorRate: planned.target.errorRate,
      }),
    });
    if (reply === 'TYPE' || reply === 'SETTINGS' || reply === 'LIVE') this.assertOk(reply);
    return reply as Refusal | 'OK';
  }

  /**
   * Whether the live bits are where they are in the staged string. Without settings the scripts compare
   * length and head.
   */
  private get hasSamePositions(): boolean {
    const { found, planned } = this;
    if (this.options.bitmap.format.settingsKey === undefined) return true;
    return found?.bits === planned.bits && found.hashCount === planned.hashCount;
  }

  /** Settings that peers keep in a key of their own. */
  private get foundGeometryFields(): string[] {
    const { format } = this.options.bitmap;
    return format.settingsKey !== undefined && this.found ? format.geometryFields(this.found) : [];
  }

  /** Where the live string is moved before it is removed. */
  private get retired(): string {
    return this.filter.keys.retired(this.context.token);
  }

  private get scratch(): string {
    return this.filter.keys.stagingPart(this.context.token, 'scratch');
  }

  private get planned(): BitmapSize {
    if (!this.size) throw new Error(STAGING_NOT_OPEN);
    return this.size;
  }

  private get opened(): ResolvedBitmap {
    if (!this.resolved) throw new Error(STAGING_NOT_OPEN);
    return this.resolved;
  }

  private assertOk(reply: BitmapRefusal | 'OK'): void {
    const { data } = this.filter.keys;
    switch (reply) {
      case 'TYPE':
        throw new BloomRebuildError('store-failed', notThisFilter(data, this.planned.bits));
      case 'LIVE':
        throw new BloomRebuildError('staging-damaged', replacedInRebuild(data));
      case 'SETTINGS':
        throw new BloomRebuildError('store-failed', initialisedInRebuild(data));
      default:
        assertOk(reply);
    }
  }
}
