import { BloomIdError, type Clock, printed } from '../common/index.js';
import type { BloomId, IdKey } from '../filter/index.js';
import type { LocalFilter } from '../store/index.js';
import { SourceError } from './failure.js';
import { badId } from './rebuild.messages.js';
import type { BloomIdSource } from './source.js';
import type { StallTimer } from './stall-timer.js';

/** The scan gives the event loop its turn after this time, so that the application goes on serving. */
const TURN_MS = 8;
/** Ids between two looks at the clock. */
const IDS_PER_LOOK = 512;
const SAMPLE_SIZE = 256;

export interface ScanOptions {
  readonly source: BloomIdSource;
  readonly toKey: (id: unknown) => IdKey;
  readonly filter: LocalFilter;
  /** Distinct ids that the filter may take. */
  readonly capacity: number;
  readonly watch: StallTimer;
  readonly clock: Clock;
  readonly onBadId?: 'fail' | 'skip';
  readonly onRead: (idsRead: number) => void;
  readonly onRetry?: (error: unknown) => void;
}

export interface ScanResult {
  readonly idsRead: number;
  readonly distinctIds: number;
  /** More distinct ids than the capacity: about so many. Their bits are not all in the filter. */
  readonly overflow: number | undefined;
  /** Ids that were left out, if any, and the first of them, shortened and escaped. */
  readonly bad: { readonly skipped: number; readonly example: string; readonly error: unknown } | undefined;
  /** Ids chosen at random from all that were read. */
  readonly sample: readonly IdKey[];
}

/**
 * Reads the source to its end into a local filter. Past the capacity ids are only counted, which is enough to plan the next
 * attempt.
 *
 * @throws {SourceError} when the source fails, or returns a value that cannot be an id.
 */
export async function scanSource(options: ScanOptions): Promise<ScanResult> {
  const { toKey, filter, capacity, watch, clock, onRead, onBadId = 'fail' } = options;
  const { signal } = watch;
  const sample: IdKey[] = [];
  let idsRead = 0;
  let distinctIds = 0;
  let idsReadWhenFull = 0;
  let bad: ScanResult['bad'];
  let turnEndsAt = clock.now() + TURN_MS;

  for await (const batch of readBatches(options)) {
    for (const id of batch) {
      idsRead++;
      if (distinctIds > capacity) {
        idsReadWhenFull ||= idsRead - 1;
      } else {
        let key: IdKey | undefined;
        try {
          key = keyOf(toKey, id);
          if (addTo(filter, key)) distinctIds++;
          const goodIds = idsRead - (bad?.skipped ?? 0);
          const place = goodIds <= SAMPLE_SIZE ? goodIds - 1 : Math.floor(Math.random() * goodIds);
          if (place < SAMPLE_SIZE) sample[place] = ofItsOwn(key);
        } catch (error) {
          if (!isBadId(error)) throw error;
          if (onBadId === 'fail') throw named(error, id);
          bad = bad
            ? { ...bad, skipped: bad.skipped + 1 }
            : { skipped: 1, example: printed(id), error: error.cause };
        }
      }
      if (idsRead % IDS_PER_LOOK === 0 && clock.now() >= turnEndsAt) {
        onRead(idsRead);
        await new Promise(setImmediate);
        signal.throwIfAborted();
        turnEndsAt = clock.now() + TURN_MS;
      }
    }
    onRead(idsRead);
  }
  signal.throwIfAborted();

  const isFull = distinctIds > capacity;
  const distinctShare = distinctIds / (idsReadWhenFull || idsRead);
  return {
    idsRead,
    distinctIds,
    overflow: isFull ? Math.ceil(idsRead * distinctShare) : undefined,
    bad,
    sample,
  };
}

function isBadId(error: unknown): error is SourceError {
  return error instanceof SourceError && error.cause instanceof BloomIdError;
}

function named(error: SourceError, id: unknown): SourceError {
  return new SourceError(new BloomIdError(badId(error.message, id), { cause: error.cause }));
}

function addTo(filter: LocalFilter, key: IdKey): boolean {
  try {
    return filter.addKey(key);
  } catch (error) {
    throw new SourceError(error);
  }
}

function keyOf(toKey: (id: unknown) => IdKey, id: unknown): IdKey {
  try {
    return toKey(id);
  } catch (error) {
    // An option `normalize` that throws has met an id that it does not expect.
    throw new SourceError(
      error instanceof BloomIdError ? error : new BloomIdError(String(error), { cause: error }),
    );
  }
}

/** A source may write the next id into the bytes of this one. */
function ofItsOwn<Id extends BloomId>(id: Id): Id | Uint8Array {
  return id instanceof Uint8Array ? new Uint8Array(id) : id;
}

/** The source in batches. */
async function* readBatches(options: ScanOptions): AsyncGenerator<readonly BloomId[]> {
  const { watch } = options;
  const iterator = iterate(options);
  let single: BloomId[] = [];
  let ended = false;
  try {
    for (;;) {
      const result = await watch.wait(iterator.next());
      if (result.done) break;
      const { value } = result;
      if (Array.isArray(value)) {
        yield value as readonly BloomId[];
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

function iterate({ source, watch, onRetry }: ScanOptions): AsyncIterator<BloomId | readonly BloomId[]> {
  try {
    return source.ids({ signal: watch.signal, ...(onRetry && { onRetry }) })[Symbol.asyncIterator]();
  } catch (error) {
    throw new SourceError(error);
  }
}
