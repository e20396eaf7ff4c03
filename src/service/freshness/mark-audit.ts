import type { BloomId, IdKey } from '../../filter/index.js';
import { arePacked, IdSample, type PackedIds, unpackId } from '../../rebuild/index.js';
import type { BloomVerdict } from '../../store/index.js';
import type { IdKeys } from '../id-keys.js';
import type { MarkedKey } from './coverage.js';
import { compareKeys, type Gap, isInGap, isOfOrder } from './id-order.js';

export interface MarkAuditContext {
  readonly mark: MarkedKey;
  readonly gaps: readonly Gap[];
  readonly keys: IdKeys;
  readonly check: (keys: readonly IdKey[]) => Promise<readonly BloomVerdict[]>;
}

export interface AuditedMark {
  readonly asked: number;
  /** Ids of rows up to the mark that the filter does not have. */
  readonly missing: readonly string[];
  /** Whether the filter could answer for all of them. */
  readonly isKnown: boolean;
}

const SAMPLED = 4096;
const PIECE = 500;

/** Checks that the live filter has rows up to the mark: some that a rebuild reads, at random, and others. */
export class MarkAudit {
  private readonly sample = new IdSample(SAMPLED);

  constructor(private readonly context: MarkAuditContext) {}

  read(ids: readonly BloomId[] | PackedIds): void {
    const { sample } = this;
    const count = arePacked(ids) ? ids.count : ids.length;
    let at = sample.passing;
    sample.passing = 0;
    for (; at < count; at++) {
      const key = this.keyUpTo(arePacked(ids) ? unpackId(ids, at) : ids[at]!);
      if (key === undefined) continue;
      sample.take(key);
      at += sample.passing;
    }
    sample.passing = at - count;
  }

  async result(others: readonly BloomId[]): Promise<AuditedMark> {
    const last = others.map((id) => this.keyUpTo(id)).filter((key) => key !== undefined);
    const asked = [...new Set([...this.sample.ids, ...last])];
    const verdicts: BloomVerdict[] = [];
    for (let at = 0; at < asked.length; at += PIECE)
      verdicts.push(...(await this.context.check(asked.slice(at, at + PIECE))));
    return {
      asked: asked.length,
      missing: asked.filter((_, i) => verdicts[i] === 'absent').map(String),
      isKnown: !verdicts.includes('unknown'),
    };
  }

  /** Undefined for an id after the mark or in a gap, and for another order. */
  private keyUpTo(id: BloomId): IdKey | undefined {
    const { mark, gaps, keys } = this.context;
    try {
      const key = keys.ofAdded(id);
      if (!isOfOrder(mark.order, key) || compareKeys(mark.order, key, mark.upTo) > 0) return undefined;
      return isInGap(gaps, key) ? undefined : key;
    } catch {
      // The rebuild reports what is wrong with it.
      return undefined;
    }
  }
}
