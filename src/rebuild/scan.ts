import type { BloomId } from '../filter/index.js';
import { SourceError } from './failure.js';
import { arePacked, packedWhere, type PackedIds } from './packed-ids.js';
import { expectAsync } from './source.js';
import { ofItsOwn, ScanCounts, type ScanOptions, type ScanResult } from './scan-counts.js';

export type { ScanOptions, ScanResult };

/** The scan gives the event loop its turn after this time, so that the application goes on serving. */
const TURN_MS = 8;
/** Ids between two looks at the clock. */
const IDS_PER_LOOK = 512;

/**
 * Reads the source to its end into a local filter. Past the capacity ids are only counted, which is enough to
 * plan the next attempt.
 *
 * @throws {SourceError} when the source fails, or returns a value that cannot be an id.
 */
export async function scanSource(options: ScanOptions): Promise<ScanResult> {
  const { watch, clock, onRead } = options;
  const counted = new ScanCounts(options);
  let turnEndsAt = clock.now() + TURN_MS;
  const giveTurn = async () => {
    onRead(counted.idsRead);
    await new Promise(setImmediate);
    watch.signal.throwIfAborted();
    turnEndsAt = clock.now() + TURN_MS;
  };

  for await (const batch of readBatches(options)) {
    const length = arePacked(batch) ? batch.count : batch.length;
    for (let from = 0; from < length;) {
      const to = Math.min(from + IDS_PER_LOOK, length);
      if (arePacked(batch)) counted.addPacked(batch, from, to);
      else counted.add(batch, from, to);
      from = to;
      if (clock.now() >= turnEndsAt) await giveTurn();
    }
    onRead(counted.idsRead);
  }
  while (counted.settle()) if (clock.now() >= turnEndsAt) await giveTurn();
  watch.signal.throwIfAborted();
  return counted.result();
}

/** The source in batches. */
async function* readBatches(options: ScanOptions): AsyncGenerator<readonly BloomId[] | PackedIds> {
  const { watch } = options;
  const iterator = iterate(options);
  let single: BloomId[] = [];
  let ended = false;
  try {
    for (;;) {
      const result = await watch.wait(iterator.next());
      if (result.done) break;
      const { value } = result;
      if (Array.isArray(value) || arePacked(value)) {
        yield value as readonly BloomId[] | PackedIds;
        continue;
      }
      single.push(ofItsOwn(value as BloomId));
      if (single.length < IDS_PER_LOOK) continue;
      yield single;
      single = [];
    }
    ended = true;
    if (single.length > 0) yield single;
  } finally {
    // The clean-up of a source that hangs may never end: it is started, not awaited.
    if (!ended) void iterator.return?.(undefined)?.catch(() => {});
  }
}

function iterate(options: ScanOptions): AsyncIterator<BloomId | readonly BloomId[] | PackedIds> {
  const { source, watch, onRetry, filter, spellsAs = () => false } = options;
  try {
    const ids = expectAsync(source.ids({ signal: watch.signal, ...(onRetry && { onRetry }) }), 'ids');
    return (filter.addBytes ? packedWhere(ids, spellsAs) : ids)[Symbol.asyncIterator]();
  } catch (error) {
    throw new SourceError(error);
  }
}
