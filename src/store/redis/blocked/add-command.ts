import { type IdKey, tooLong } from '../../../filter/index.js';
import {
  RANGE_BYTES,
  writeRange,
  SEGMENT_BLOCKS,
  type SegmentedGeneration,
  tagText,
} from '../staging/segments.js';
import { KeyIndex } from '../staging/block-reader.js';
import type { NegativeCacheTable } from './negative-cache-table.js';
import type { BlockedSnapshot } from './blocked-meta.js';
import type { AddCommand, BitsCommand, NegativeCacheMarks } from './blocked-scripts.js';

const NOTHING = Buffer.alloc(0);
/** Bytes of a block's number and a seed. */
const PLACE_BYTES = 8;

/**
 * The call that records ids in the live and in the staged generation.
 *
 * @throws {BloomIdError} for an id over `maxIdBytes` of either.
 */
export function addCommand(
  { live, staging, storedTag, leasesMs, runId }: BlockedSnapshot,
  ids: readonly IdKey[],
  ownReader = '',
): AddCommand {
  return {
    ...recordsOf({ live, staging, storedTag }, ids, ids),
    ...(leasesMs !== undefined && {
      copies: { runId, places: placesOf(live, ids), stagedPlaces: placesOf(staging, ids), ownReader },
    }),
  };
}

/**
 * The call that takes ids out of the live and the staged generation, as far as no other id has a bit of them;
 * undefined where that leaves none.
 */
export function removeCommand(
  { live, staging, storedTag }: BlockedSnapshot,
  ids: readonly IdKey[],
): BitsCommand | undefined {
  const ofLive = ids.filter((id) => hasOwnBit(live, id));
  const ofStaging = ids.filter((id) => hasOwnBit(staging, id));
  if (ofLive.length + ofStaging.length === 0) return undefined;
  return recordsOf({ live, staging, storedTag }, ofLive, ofStaging);
}

type Generations = Pick<BlockedSnapshot, 'live' | 'staging' | 'storedTag'>;

function recordsOf(
  { live, staging, storedTag }: Generations,
  ofLive: readonly IdKey[],
  ofStaging: readonly IdKey[],
): BitsCommand {
  // Keys are counted from 1, and the first is meta.
  const liveKeys = live && new KeyIndex(live, 1);
  const liveRecords = live && liveKeys ? packed(live, liveKeys, ofLive) : NOTHING;
  const stagingKeys = staging && new KeyIndex(staging, 1 + (liveKeys?.keys.length ?? 0));
  const stagingRecords = staging && stagingKeys ? packed(staging, stagingKeys, ofStaging) : NOTHING;
  return {
    storedTag,
    stagingTag: tagText(staging?.generation),
    keys: [...(liveKeys?.keys ?? []), ...(stagingKeys?.keys ?? [])],
    liveRecords,
    stagingRecords,
  };
}

/** Whether no other id has a bit of this one. */
export function hasOwnBit(generation: SegmentedGeneration | undefined, id: IdKey): boolean {
  return generation !== undefined && generation.layout.locate(id) && generation.layout.isOwnBit;
}

/** Block and seed of each id: what a reader needs to set its bits. */
function placesOf(generation: SegmentedGeneration | undefined, ids: readonly IdKey[]): Buffer {
  if (!generation) return NOTHING;
  const { layout } = generation;
  const places = Buffer.allocUnsafe(ids.length * PLACE_BYTES);
  let end = 0;
  for (const id of ids) {
    layout.locate(id);
    end = places.writeUInt32LE(layout.block, end);
    end = places.writeInt32LE(layout.seed | 0, end);
  }
  return places;
}

function packed({ layout, generation }: SegmentedGeneration, keys: KeyIndex, ids: readonly IdKey[]): Buffer {
  const records = Buffer.allocUnsafe(ids.length * (3 + RANGE_BYTES + 2 * generation.hashCount));
  let end = 0;
  for (const id of ids) {
    if (!layout.locate(id)) throw tooLong(generation.maxIdBytes);
    end = records.writeUInt16BE(keys.indexOf(Math.floor(layout.block / SEGMENT_BLOCKS)), end);
    end = writeRange(records, end, layout.block % SEGMENT_BLOCKS);
    end = writeMasks(records, end, ascending(layout.positions(layout.seed)));
  }
  return records.subarray(0, end);
}

/** Positions of one byte share a mask. */
function writeMasks(records: Buffer, at: number, positions: readonly number[]): number {
  let end = at + 1;
  let byte = -1;
  for (const position of positions) {
    if (position >>> 3 !== byte) {
      byte = position >>> 3;
      records[end] = byte;
      records[end + 1] = 0;
      end += 2;
    }
    records[end - 1]! |= 1 << (position & 7);
  }
  records[at] = (end - at - 1) / 2;
  return end;
}

/** Sorts a few numbers in place: insertion, without the call of a comparator for each two. */
function ascending(numbers: number[]): number[] {
  for (let i = 1; i < numbers.length; i++) {
    const number = numbers[i]!;
    let at = i;
    for (; at > 0 && numbers[at - 1]! > number; at--) numbers[at] = numbers[at - 1]!;
    numbers[at] = number;
  }
  return numbers;
}

/** The buckets that an add of these ids has to mark. */
export function negativeCacheMarks(
  table: NegativeCacheTable,
  ids: readonly IdKey[],
  lifeMs: number,
): NegativeCacheMarks {
  const buckets = Buffer.allocUnsafe(ids.length * 4);
  ids.forEach((id, i) => buckets.writeUInt32BE(table.bucketOf(id), i * 4));
  return { table, lifeMs, buckets };
}
