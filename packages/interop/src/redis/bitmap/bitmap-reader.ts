import { BloomFormatError, BloomIdError, type IdKey } from 'nestjs-bloom/filter';
import { type BloomVerdict, isLongerThan } from 'nestjs-bloom/store';
import { checkFitting } from '../generation/command-ids.js';
import { type GenerationRole, TOKEN_FIELDS } from '../generation/layout-driver.js';
import type { Outdated } from 'nestjs-bloom/internal';
import type { BitmapContext } from './bitmap-scripts.js';
import type { BitmapSize } from './bitmap-format.js';
import { notAString } from './bitmap.messages.js';
import { type ResolvedBitmap, pushOffsets } from './resolved-bitmap.js';

/** Bits of one script call: they hold the server for about a millisecond. */
const BITS_PER_CALL = 2048;
/** However few bits an id has. */
const MAX_IDS_PER_CALL = 256;

/** Finds and reads a filter of one row of bits. */
export class BitmapReader {
  constructor(private readonly context: BitmapContext) {}

  idsPerCall(hashCount: number): number {
    return Math.max(1, Math.min(MAX_IDS_PER_CALL, Math.floor(BITS_PER_CALL / hashCount)));
  }

  check(
    resolved: ResolvedBitmap,
    ids: readonly IdKey[],
    role: GenerationRole,
  ): Promise<BloomVerdict[] | Outdated> {
    const { maxIdBytes } = this.context.plan;
    const offsets: number[] = [];
    return checkFitting(
      ids,
      (id) => !isLongerThan(id, maxIdBytes) && this.tryPush(resolved, id, offsets),
      async () => {
        const reply = await this.context.scripts.check(resolved, { tokenField: TOKEN_FIELDS[role], offsets });
        return typeof reply === 'string' ? reply : Array.from(reply.flags, (flag) => flag === '1');
      },
    );
  }

  /** The offsets of the bits of ids that can be added, four bytes each, big-endian. */
  records(resolved: ResolvedBitmap, ids: readonly IdKey[]): Buffer {
    const offsets: number[] = [];
    for (const id of ids) pushOffsets(resolved, id, offsets);
    const records = Buffer.allocUnsafe(4 * offsets.length);
    offsets.forEach((offset, i) => records.writeUInt32BE(offset, 4 * i));
    return records;
  }

  /**
   * The size of the stored filter; undefined if there is no filter, or if it does not store its size.
   *
   * @throws {BloomFormatError} when what is there is no such filter.
   */
  async find(): Promise<BitmapSize | undefined> {
    const { format, scripts } = this.context;
    const found = await scripts.find(format.headBytes);
    if (found.type !== 'none' && found.type !== 'string') {
      throw new BloomFormatError(notAString(format.key, found.type));
    }
    return format.sizeOf(found);
  }

  /** False for an id that no peer could have added. */
  private tryPush(resolved: ResolvedBitmap, id: IdKey, offsets: number[]): boolean {
    try {
      pushOffsets(resolved, id, offsets);
      return true;
    } catch (error) {
      if (!(error instanceof BloomIdError)) throw error;
      this.context.emit({ type: 'invalid-id', filter: this.context.name, error });
      return false;
    }
  }
}
