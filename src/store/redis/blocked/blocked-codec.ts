import { randomBytes } from 'node:crypto';
import { type Generation, shapeOf } from '../../../filter/index.js';
import type { MetadataCodec, OfflineCommand, PublishCommand } from '../meta/metadata-codec.js';
import type { RedisKeys } from '../meta/redis-keys.js';
import type { Refusal } from '../swap/rebuild-step.js';
import { segmentCount, segmentedGeneration, tagText } from '../staging/segments.js';
import { type MetadataReading, describeMeta, type Meta, type RawMeta } from '../meta/stored-meta.js';
import {
  type BlockedForms,
  type BlockedSnapshot,
  blockedForms,
  leasesMsIn,
  negativeCacheIn,
  parseBlocked,
  plainTag,
} from './blocked-meta.js';
import type { BlockedScripts } from './blocked-scripts.js';
import type { LostLeases } from './copies/lost-leases.js';

/** Formats 1, 3 (parts) and 4 (leases): the tag in each block names its generation. */
export class BlockedCodec implements MetadataCodec<Generation, BlockedSnapshot> {
  readonly format: string;
  /** False: tag and number of builds show it, and live segments are moved away before. */
  readonly noticesRecreation = false;
  private readonly forms: BlockedForms;

  constructor(
    private readonly keys: RedisKeys,
    private readonly blocked: BlockedScripts,
    /** The application that claims what it publishes. */
    private readonly owner: string | undefined,
    private readonly lostLeases: LostLeases,
    /** Parts of the filter, of which this is one; undefined: it is not divided. */
    parts?: number,
  ) {
    this.forms = blockedForms(parts);
    this.format = this.forms[0].format;
  }

  parse(type: string, pairs: readonly string[]): RawMeta<Generation> {
    return parseBlocked(this.forms, type, pairs);
  }

  snapshot(meta: Meta<Generation> | undefined, read: MetadataReading): BlockedSnapshot {
    const { keys } = this;
    const { live, staging, fields } = meta ?? {};
    const { description, ...rest } = describeMeta(meta, read);
    const count = live && fields ? Math.max(0, fields.count('count')) : 0;
    const negativeCache = fields && negativeCacheIn(fields);
    const token = fields?.get('pending.token') ?? '';
    const snapshot = {
      ...rest,
      storedTag: fields?.get('tag') ?? '',
      leasesMs: fields && leasesMsIn(fields),
      live: live && segmentedGeneration(live, keys.segment),
      staging: staging && segmentedGeneration(staging, (index) => keys.staging(token, index)),
      negativeCache: negativeCache === 'nonsense' ? undefined : negativeCache,
      description: { ...description, generation: live, shape: live && shapeOf(live, count), count },
    };
    return { ...snapshot, unseenUntil: this.lostLeases.look(snapshot) };
  }

  originOf(generation: Generation): string {
    return tagText(generation);
  }

  /** Retires the live segments: every segment there may be when it is not known which generation is live. */
  async offline({ state, live, tag = '', nonsense = false, builds }: OfflineCommand<Generation>) {
    return this.blocked.offline(this.keys, {
      tag: live ? tagText(live) : plainTag(tag),
      state,
      token: randomBytes(8).toString('hex'),
      nonsense,
      builds,
      format: this.format,
      leaseMs: this.lostLeases.leaseMs,
      ...(live ? { segments: segmentCount(live) } : {}),
    });
  }

  publish(command: PublishCommand<Generation>): Promise<Refusal | 'OK'> {
    const formats = this.forms.map(({ format }) => format);
    return this.blocked.publish(this.keys, { ...command, owner: this.owner, formats });
  }

  withdraw(token: string): Promise<void> {
    return this.blocked.withdraw(this.keys, token);
  }
}
