import { randomBytes } from 'node:crypto';
import { BloomFormatError, type IdKey } from 'nestjs-bloom/filter';
import { BloomUnavailableError, type BloomVerdict, type FilterShape } from 'nestjs-bloom/store';
import {
  type Adoption,
  assertNotTooLong,
  falsePositiveRate,
  type Outdated,
  type Permission,
  type StagingContext,
} from 'nestjs-bloom/internal';
import type { BitmapLayout, Geometry } from '../../formats/bitmap-filter.js';
import { LAYOUT_NUMBERS } from '../../formats/layout-numbers.js';
import type { GenerationKeys } from '../generation/generation-keys.js';
import { type StoredGeneration, liveFields } from '../generation/generation-meta.js';
import type { DrivenContext, GenerationRole, LayoutDriver } from '../generation/layout-driver.js';
import type { BitmapSize } from './bitmap-format.js';
import type { AdoptReply, BitmapContext } from './bitmap-scripts.js';
import { BitmapReader } from './bitmap-reader.js';
import { BitmapStaging } from './bitmap-staging.js';
import { notAString, otherLength, otherPositions, tooFewBitsForIds } from './bitmap.messages.js';
import { canariesOf, resolveBitmap, type ResolvedBitmap, readGeneration } from './resolved-bitmap.js';

/** Set bits are counted in a part of the string of this size: positions are spread evenly. */
const SAMPLE_BYTES = 256 * 1024;
/** What is kept of generations that were resolved: a live and a staged one, and those before. */
const MAX_RESOLVED = 8;
/** While none is resolved. */
const USUAL_HASH_COUNT = 14;

/** Filters of one row of bits in a Redis string that peers read and write: go-zero, Redisson, Guava. */
export class BitmapDriver implements LayoutDriver<ResolvedBitmap> {
  readonly layout: number;
  private readonly reader: BitmapReader;
  /** A layout of any size: says which ids a peer could have added. */
  private readonly encoder: BitmapLayout;
  private readonly resolved = new Map<string, ResolvedBitmap>();

  constructor(
    private readonly context: BitmapContext,
    private readonly keys: GenerationKeys,
  ) {
    this.layout = LAYOUT_NUMBERS[context.format.kind];
    this.reader = new BitmapReader(context);
    this.encoder = context.format.layout({ bits: 64, hashCount: 1 });
  }

  resolve(generation: StoredGeneration, role: GenerationRole): ResolvedBitmap | undefined {
    const name = `${role} ${generation.token} ${generation.settings} ${generation.canaries}`;
    const known = this.resolved.get(name);
    if (known) return known;
    const read = readGeneration(generation);
    if (!read) return undefined;
    const { format } = this.context;
    this.assertSameSettings(read);
    const { token } = generation;
    const key = role === 'live' ? this.keys.data : this.keys.staging(token);
    const resolved = resolveBitmap({ ...read, format, key, token });
    if (this.resolved.size === MAX_RESOLVED) this.resolved.clear();
    this.resolved.set(name, resolved);
    return resolved;
  }

  idsPerCall(resolved: ResolvedBitmap | undefined): number {
    const known = resolved ? [resolved] : [...this.resolved.values()];
    return this.reader.idsPerCall(Math.max(USUAL_HASH_COUNT, ...known.map(({ layout }) => layout.hashCount)));
  }

  assertFits(id: IdKey): void {
    assertNotTooLong(id, this.context.plan.maxIdBytes);
    this.encoder.locate(id);
  }

  check(
    resolved: ResolvedBitmap,
    ids: readonly IdKey[],
    role: GenerationRole,
  ): Promise<BloomVerdict[] | Outdated> {
    return this.reader.check(resolved, ids, role);
  }

  async add(
    live: ResolvedBitmap | undefined,
    staging: ResolvedBitmap | undefined,
    ids: readonly IdKey[],
  ): Promise<boolean[] | Outdated> {
    const records = (resolved: ResolvedBitmap | undefined) =>
      resolved && { resolved, records: this.reader.records(resolved, ids) };
    const target = live ?? (await this.peersBitmap());
    const reply = await this.context.scripts.add(records(target), records(staging));
    return typeof reply === 'string' ? reply : ids.map((_, i) => reply.flags[i] !== '0');
  }

  async adopt(states: readonly string[]): Promise<Adoption> {
    const { format, scripts } = this.context;
    try {
      const size = await this.reader.find();
      if (!size) return { outcome: 'missing' };
      const token = randomBytes(8).toString('hex');
      const { capacity, errorRate } = size.target;
      const canaries = canariesOf(this.keys.data, size, format.headBytes);
      const resolved = resolveBitmap({ format, key: this.keys.data, geometry: size, canaries, token });
      const reply = await scripts.adopt(resolved, {
        states,
        spareBits: (8 - (size.bits % 8)) % 8,
        // Only if somebody says so: whether nothing was added yet, or everything lost, is not known.
        makes: format.existsWithoutString && states.includes('lost'),
        fields: liveFields(resolved.generation, this.layout, { capacity, errorRate }),
      });
      return adoption(reply, size, this.keys.data);
    } catch (error) {
      if (error instanceof BloomFormatError) return { outcome: 'unfit', reason: error.message };
      throw error;
    }
  }

  async measure(resolved: ResolvedBitmap): Promise<{ count: number; shape: FilterShape } | undefined> {
    const { bits, hashCount } = resolved.geometry;
    const head = this.context.format.headBytes;
    const bytes = resolved.length - head;
    const sampled = Math.min(SAMPLE_BYTES, bytes);
    const from = head + Math.floor(Math.random() * (bytes - sampled + 1));
    const { length, setBits } = await this.context.scripts.measure(from, from + sampled - 1);
    if (length !== resolved.length) return undefined;
    const share = Math.min(1, setBits / Math.min(bits, 8 * sampled));
    // Less the bits of canaries that no id has set.
    const canaryShare = (8 * resolved.canaries.length) / bits;
    const shareOfIds = Math.max(0, (share - canaryShare) / (1 - canaryShare));
    return {
      count: Math.round((-bits / hashCount) * Math.log1p(-Math.min(shareOfIds, 1 - 1 / bits))),
      shape: { hashCount, bytes: resolved.length, modelledErrorRate: share ** hashCount, fillRatio: share },
    };
  }

  stage(context: StagingContext, filter: DrivenContext<ResolvedBitmap>): BitmapStaging {
    return new BitmapStaging(filter, context, { bitmap: this.context, reader: this.reader });
  }

  permissions(): Permission[] {
    const { data, probe } = this.keys;
    const { settingsKey } = this.context.format;
    const onSettings = ['HGET', 'HGETALL', 'HDEL', 'HSET'].map((command) => {
      const args = { HGETALL: [], HSET: ['nestjs-bloom', 'value', 'no value'] }[command] ?? ['nestjs-bloom'];
      return { command, key: settingsKey!, args };
    });
    return [
      { command: 'GETRANGE', key: data, args: ['0', '0'] },
      // Nothing is written.
      { command: 'SETRANGE', key: data, args: ['0', ''] },
      { command: 'SETBIT', key: data, args: ['no offset', '1'] },
      { command: 'GETBIT', key: data, args: ['0'] },
      ...['STRLEN', 'BITCOUNT', 'PTTL'].map((command) => ({ command, key: data })),
      { command: 'EXISTS', key: probe },
      { command: 'BITOP', args: ['OR', { key: probe }, { key: probe }] },
      { command: 'PERSIST', key: probe },
      { command: 'RENAME', key: probe, args: [{ key: `${probe}:renamed` }] },
      ...(settingsKey === undefined ? [] : onSettings),
    ];
  }

  async advise(): Promise<readonly string[]> {
    const { format, plan } = this.context;
    if (!format.fixed) return [];
    const expected = falsePositiveRate({ ...format.fixed, ids: plan.capacity });
    if (expected <= plan.errorRate * 1.1) return [];
    return [tooFewBitsForIds({ key: format.key, bits: format.fixed.bits }, plan, expected)];
  }

  /** What peers read and write while no generation is live; undefined when that is not known. */
  private async peersBitmap(): Promise<ResolvedBitmap | undefined> {
    const { format } = this.context;
    try {
      const size = await this.reader.find();
      return size && resolveBitmap({ format, key: this.keys.data, geometry: size, canaries: [], token: '' });
    } catch (error) {
      // An adoption or a rebuild reports what is there.
      if (error instanceof BloomFormatError) return undefined;
      throw error;
    }
  }

  /** Another size or encoding would look for ids where they are not. */
  private assertSameSettings({ geometry, encoding }: { geometry: Geometry; encoding: string }): void {
    const { format, name } = this.context;
    const { bits, hashCount } = format.fixed ?? geometry;
    if (geometry.bits === bits && geometry.hashCount === hashCount && encoding === format.encoding) return;
    throw new BloomUnavailableError(
      otherPositions(
        { filter: name, key: format.key, metaKey: this.keys.meta },
        { bits, hashCount, encoding: format.encoding },
        { ...geometry, encoding },
      ),
    );
  }
}

function adoption(reply: AdoptReply, { bits }: BitmapSize, key: string): Adoption {
  switch (reply) {
    case 'OK':
      return { outcome: 'adopted' };
    case 'MISSING':
      return { outcome: 'missing' };
    case 'TYPE':
      return { outcome: 'unfit', reason: notAString(key, 'key of another type') };
    case 'LENGTH':
      return { outcome: 'unfit', reason: otherLength(key, bits) };
    default:
      // Changed since it was found.
      return { outcome: 'stale' };
  }
}
