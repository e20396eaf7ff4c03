import { type IdKey, tooLong } from '../../filter/index.js';
import { KeyIndex } from './block-reader.js';
import { tagText } from './filter-meta.js';
import type { AddCommand } from './redis-scripts.js';
import { SEGMENT_BLOCKS, type SegmentedGeneration } from './segments.js';

const NOTHING = Buffer.alloc(0);

/**
 * The call that records ids in the live and in the staged generation.
 *
 * @throws {BloomIdError} for an id over `maxIdBytes` of either.
 */
export function addCommand(
  live: SegmentedGeneration | undefined,
  staged: SegmentedGeneration | undefined,
  ids: readonly IdKey[],
): AddCommand {
  // Keys are counted from 1, and the first is meta.
  const liveKeys = live && new KeyIndex(live, 1);
  const liveRecords = live && liveKeys ? packed(live, liveKeys, ids) : NOTHING;
  const stagedKeys = staged && new KeyIndex(staged, 1 + (liveKeys?.keys.length ?? 0));
  const stagedRecords = staged && stagedKeys ? packed(staged, stagedKeys, ids) : NOTHING;
  return {
    liveTag: tagText(live?.generation),
    stagedTag: tagText(staged?.generation),
    liveHashCount: live?.generation.hashCount ?? 0,
    stagedHashCount: staged?.generation.hashCount ?? 0,
    keys: [...(liveKeys?.keys ?? []), ...(stagedKeys?.keys ?? [])],
    liveRecords,
    stagedRecords,
  };
}

function packed({ layout, generation }: SegmentedGeneration, keys: KeyIndex, ids: readonly IdKey[]): Buffer {
  const width = 4 + 2 * generation.hashCount;
  const records = Buffer.allocUnsafe(ids.length * width);
  ids.forEach((id, i) => {
    if (!layout.locate(id)) throw tooLong(generation.maxIdBytes);
    let at = records.writeUInt16BE(keys.indexOf(Math.floor(layout.block / SEGMENT_BLOCKS)), i * width);
    at = records.writeUInt16BE(layout.block % SEGMENT_BLOCKS, at);
    for (const position of layout.positions(layout.seed)) {
      records[at++] = position >>> 5;
      records[at++] = position & 31;
    }
  });
  return records;
}
