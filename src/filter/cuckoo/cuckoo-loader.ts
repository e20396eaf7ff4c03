import { BloomFormatError } from '../../common/index.js';
import type { RedisBloomChunk } from '../redisbloom/dump-chunks.js';
import { DumpParts, refusedDump } from '../redisbloom/dump-parts.js';
import { CuckooFilter } from './cuckoo-filter.js';
import { readCuckooHeader, tableSizes } from './cuckoo-header.js';
import { bucketsOf } from './cuckoo-size.js';
import { CuckooTable } from './cuckoo-table.js';

const WORDS = { dump: "a cuckoo filter's dump", part: 'table', command: 'CF.SCANDUMP' };

/**
 * Takes the chunks of a dump as `CF.LOADCHUNK` does, but only all of them, and of one moment: fingerprints move from table to table,
 * so one that was on its way while the dump was taken would be an id that is denied.
 *
 * @throws {BloomFormatError}
 */
export function loadCuckoo(chunks: Iterable<RedisBloomChunk>): CuckooFilter {
  const [head, ...data] = chunks;
  if (head === undefined) {
    throw refusedDump(WORDS, 'a header', 'no chunks, as CF.SCANDUMP replies for an empty filter');
  }
  if (head.iterator !== 1) throw refusedDump(WORDS, 'the chunk of iterator 1 first', `${head.iterator}`);
  const header = readCuckooHeader(head.data);
  const parts = new DumpParts(tableSizes(header), WORDS);
  for (const chunk of data) parts.place(chunk);
  const tables = parts
    .join()
    .map(
      (slots, index) =>
        new CuckooTable({ buckets: bucketsOf(header, index), bucketSize: header.bucketSize }, slots),
    );
  const fingerprints = tables.reduce((sum, table) => sum + table.countFingerprints(), 0);
  if (fingerprints !== header.ids) {
    throw new BloomFormatError(
      `Expected a cuckoo filter's dump with ${header.ids} fingerprints, as its header says, got ${fingerprints}. The filter was ` +
        'changed while it was dumped: dump it again, or a copy of it (COPY), at rest.',
    );
  }
  return new CuckooFilter(header, { tables, ids: header.ids, deletes: header.deletes });
}
