import type { IdKey } from 'nestjs-bloom/filter';
import { ScriptKeys, SEGMENT_BLOCKS, type SegmentedGeneration, tooLong } from 'nestjs-bloom/internal';
import type { ResolvedGrowing } from './resolved-growing.js';

/** Where ids are in every layer, as the script takes it. */
export interface AddRecords {
  readonly keys: readonly string[];
  readonly liveRecords: Buffer;
  readonly stagingRecords: Buffer;
  readonly ids: number;
}

/** @throws {BloomIdError} for an id over `maxIdBytes` of either generation. */
export function addRecords(
  meta: string,
  live: ResolvedGrowing | undefined,
  staging: ResolvedGrowing | undefined,
  ids: readonly IdKey[],
): AddRecords {
  const table = new ScriptKeys(meta);
  const liveRecords = packed(live?.layers ?? [], table, ids);
  const stagingRecords = packed(staging?.layers ?? [], table, ids);
  return { keys: table.keys, liveRecords, stagingRecords, ids: ids.length };
}

function packed(layers: readonly SegmentedGeneration[], table: ScriptKeys, ids: readonly IdKey[]): Buffer {
  const width = layers.reduce((sum, { generation }) => sum + 4 + 2 * generation.hashCount, 0);
  const records = Buffer.allocUnsafe(ids.length * width);
  let at = 0;
  for (const id of ids) {
    for (const { layout, generation, key } of layers) {
      if (!layout.locate(id)) throw tooLong(generation.maxIdBytes);
      at = records.writeUInt16BE(table.indexOf(key(Math.floor(layout.block / SEGMENT_BLOCKS))), at);
      at = records.writeUInt16BE(layout.block % SEGMENT_BLOCKS, at);
      for (const position of layout.positions(layout.seed)) {
        records[at++] = position >>> 5;
        records[at++] = position & 31;
      }
    }
  }
  return records;
}
