import {
  type BloomError,
  type BloomEventListener,
  BloomFullError,
  BloomIdError,
  BloomUnavailableError,
  describeError,
} from '../../../common/index.js';
import type { IdKey } from '../../../filter/index.js';
import {
  type BloomVerdict,
  type LookupOutcome,
  NO_RECORDER,
  type StoreRecorder,
  verdictOf,
} from '../../index.js';
import { CircuitOpenError } from '../client/lookups-by-node.js';
import type { MetadataKeys } from '../meta/filter-context.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { batched } from '../client/tick-batcher.js';
import { notCarriedOut } from '../meta/meta.messages.js';
import { isTimeout, reasonOf } from '../meta/unknown-reason.js';

/** Ids of one lookup, which has one deadline. */
const IDS_PER_LOOK_UP = 2048;
/** Calls of one bulk add on the way at once: the server works on one while the next is made. */
const ADDS_AT_ONCE = 4;

/** Lookups and adds of a filter in Redis, gathered into calls, with a deadline and the circuit breaker. */
export abstract class BatchingFilter {
  readonly checkOne: (id: IdKey) => Promise<LookupOutcome> = batched(this.lookUp.bind(this));
  private readonly addOne = batched(this.addTogether.bind(this));
  private readonly recorder: StoreRecorder;

  constructor(
    private readonly filter: {
      readonly name: string;
      readonly emit: BloomEventListener;
      readonly connection: RedisConnection;
      readonly keys: Pick<MetadataKeys, 'meta'>;
      readonly recorder?: StoreRecorder | undefined;
    },
  ) {
    this.recorder = filter.recorder ?? NO_RECORDER;
  }

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const outcomes = ids.length === 1 ? [await this.checkOne(ids[0]!)] : await this.lookUp(ids);
    return outcomes.map(verdictOf);
  }

  async add(ids: readonly IdKey[]): Promise<boolean[]> {
    if (ids.length !== 1) return this.addTogether(ids);
    try {
      return [await this.addOne(ids[0]!)];
    } catch (error) {
      // One id of the batch cannot be added: it must not fail the others.
      if (error instanceof BloomIdError) return this.addTogether(ids);
      throw error;
    }
  }

  /** Outcomes for up to 2,048 ids; may reject. */
  protected abstract read(ids: readonly IdKey[]): Promise<LookupOutcome[]>;

  /**
   * Records the ids of one call; for each, true when it was not there before.
   *
   * @throws {BloomIdError} for an id that cannot be added; then none is recorded.
   */
  protected abstract record(ids: readonly IdKey[]): Promise<boolean[]>;

  /** How many ids `record` takes at once: they hold the server for about a millisecond. */
  protected abstract idsPerAdd(): number;

  /**
   * An id that cannot be added must be found before any of its bulk add is recorded.
   *
   * @throws {BloomIdError}
   */
  protected abstract assertFit(ids: readonly IdKey[]): Promise<void>;

  private async lookUp(ids: readonly IdKey[]): Promise<LookupOutcome[]> {
    if (ids.length === 0) return [];
    if (ids.length > IDS_PER_LOOK_UP) {
      const outcomes: LookupOutcome[] = [];
      for (let at = 0; at < ids.length; at += IDS_PER_LOOK_UP)
        outcomes.push(...(await this.lookUp(ids.slice(at, at + IDS_PER_LOOK_UP))));
      return outcomes;
    }
    const { connection, emit, name, keys } = this.filter;
    const since = performance.now();
    let outcomes: LookupOutcome[];
    try {
      const lookups = connection.nodes.of(keys.meta);
      if (lookups.isCircuitOpen) lookups.admit();
      outcomes = await lookups.settle(this.read(ids));
    } catch (error) {
      if (!(error instanceof CircuitOpenError))
        emit({ type: 'store-error', filter: name, operation: 'check', error });
      const reason = reasonOf(error);
      outcomes = ids.map(() => reason);
    }
    this.recorder.recordLookups(outcomes, performance.now() - since);
    return outcomes;
  }

  private async addTogether(ids: readonly IdKey[]): Promise<boolean[]> {
    const idsPerAdd = this.idsPerAdd();
    if (ids.length > idsPerAdd) await this.assertFit(ids);
    const results: boolean[] = [];
    for (let at = 0; at < ids.length;) {
      const calls: Promise<boolean[]>[] = [];
      for (; at < ids.length && calls.length < ADDS_AT_ONCE; at += idsPerAdd) {
        calls.push(this.recordSome(ids.slice(at, at + idsPerAdd)));
      }
      for (const added of await Promise.all(calls)) results.push(...added);
    }
    return results;
  }

  /** A call counts that was answered, or took too long. */
  private async recordSome(ids: readonly IdKey[]): Promise<boolean[]> {
    const since = performance.now();
    try {
      const added = await this.record(ids);
      this.recorder.recordAdd(ids.length, performance.now() - since);
      return added;
    } catch (error) {
      if (isTimeout(error)) this.recorder.recordAdd(ids.length, performance.now() - since);
      throw error;
    }
  }
}

/** Whatever the cause, the caller of an add gets one kind of error. */
export async function unavailable<Value>(promise: Promise<Value>): Promise<Value> {
  try {
    return await promise;
  } catch (error) {
    throw asUnavailable(error);
  }
}

export function asUnavailable(error: unknown): BloomError {
  if (error instanceof BloomUnavailableError || error instanceof BloomFullError) return error;
  return new BloomUnavailableError(notCarriedOut(describeError(error)), { cause: error });
}
