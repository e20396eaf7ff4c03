import type { RedisBloomChunk } from '../dump/dump-chunks.js';
import { changedDump, checkSameHeader, DumpParts, refusedDump } from '../dump/dump-parts.js';
import { CuckooFilter } from './cuckoo-filter.js';
import { readCuckooHeader, tableSizes } from './cuckoo-header.js';
import { bucketsOf } from './cuckoo-size.js';
import { CuckooTable } from './cuckoo-table.js';

const WORDS = { dump: "a cuckoo filter's dump", part: 'table', command: 'CF.SCANDUMP' };

/**
 * Takes the chunks of a dump as `CF.LOADCHUNK` does, but only all of them, and of one moment as far as that can be known: fingerprints
 * move within a table and from table to table, so one that was on its way while the dump was taken would be an id that is denied.
 * The header that is asked for again after the last chunk shows most writes of that time, but not removals that were followed by a
 * compaction, which sets their number back, and as many adds.
 *
 * @throws {BloomFormatError}
 */
export function loadCuckoo(chunks: Iterable<RedisBloomChunk>): CuckooFilter {
  const [head, ...others] = chunks;
  if (head === undefined) {
    throw refusedDump(WORDS, 'a header', 'no chunks, as CF.SCANDUMP replies for an empty filter');
  }
  if (head.iterator !== 1) throw refusedDump(WORDS, 'the chunk of iterator 1 first', `${head.iterator}`);
  const header = readCuckooHeader(head.data);
  const parts = new DumpParts(tableSizes(header), WORDS);
  for (const chunk of others) {
    if (chunk.iterator === 1) checkSameHeader(head.data, chunk.data, WORDS);
    else parts.place(chunk);
  }
  const tables = parts
    .join()
    .map(
      (slots, index) =>
        new CuckooTable({ buckets: bucketsOf(header, index), bucketSize: header.bucketSize }, slots),
    );
  const fingerprints = tables.reduce((sum, table) => sum + table.countFingerprints(), 0);
  if (fingerprints !== header.ids) {
    throw changedDump(
      WORDS,
      `${header.ids} fingerprints, as its header says`,
      `${fingerprints} in its tables`,
    );
  }
  return new CuckooFilter(header, { tables, ids: header.ids, deletes: header.deletes });
}
