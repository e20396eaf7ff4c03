import { BloomConfigError, BloomIdError } from '../common/index.js';
import { type BloomId, type IdKey, idNote } from '../filter/index.js';
import type { BloomService, GuardableFilter } from '../service/index.js';
import { AddQueue } from './add-queue.js';
import { writtenUnrecorded } from './guard.messages.js';

/**
 * The share of `drainMs` after which a row that is only now visible may have been missed by a rebuild: the
 * rest is for the lag of a replica that the source reads.
 */
const SAFE_SHARE = 0.5;

/** Ids that were added before the method ran that creates their rows. */
export interface Registration {
  /** The filter's name. */
  readonly filter: string;
  /** As they were given. */
  readonly ids: readonly BloomId[];
  /** Their keys: each was formed once, and later adds use it again. */
  readonly keys: readonly IdKey[];
  /** When the add was called, by `performance.now()`. */
  readonly since: number;
  /** The live generation to which the add was acknowledged; undefined where that is not known. */
  readonly generation: string | undefined;
  /** How many of the ids the filter did not contain. */
  readonly newIds: number;
}

/** Ids to add for a call that creates their rows. */
export interface RegisterRequest {
  /** The filter's name. */
  readonly filter: string;
  /** Ids of new rows. */
  readonly ids: readonly BloomId[];
  /** As of `@BloomRegisters`. */
  readonly onError: 'throw' | 'queue' | undefined;
}

/** Records the ids of the rows that decorated methods create. */
export class IdRegistrar {
  /** Ids that could not be recorded yet, by the name of their filter. */
  private readonly queues = new Map<string, AddQueue>();
  private closed = false;
  /** Which writes of which filter an advice has named. */
  private readonly advised = new Set<string>();

  /** @internal */
  constructor(private readonly service: BloomService) {}

  /**
   * Adds ids.
   *
   * @throws {BloomConfigError} when the filter is not registered.
   * @throws {BloomIdError} when one of the values is not an id; then none is recorded.
   * @throws {BloomUnavailableError} when they could be neither recorded nor queued.
   */
  async register({ filter: name, ids, onError }: RegisterRequest): Promise<Registration> {
    const filter = this.service.guardable(name);
    const since = performance.now();
    const before = filter.generation;
    const keys = ids.map((id) => filter.keys.ofAdded(id));
    const newIds = await this.record(filter, keys, onError);
    const generation = filter.generation === before ? before : undefined;
    return { filter: name, ids: [...ids], keys, since, generation, newIds };
  }

  /**
   * Adds the ids of rows that exist already. When some of the values cannot be added, all others are.
   *
   * @throws as `register` does.
   */
  async registerMade({ filter: name, ids, onError }: RegisterRequest): Promise<void> {
    const filter = this.service.guardable(name);
    const { keys, errors } = keysOf(filter, ids);
    try {
      await this.record(filter, keys, onError);
    } catch (error) {
      // The store may take shorter ids than the filter was registered with.
      if (!(error instanceof BloomIdError)) throw error;
      for (const key of keys) {
        await this.record(filter, [key], onError).catch((one: unknown) => {
          if (!(one instanceof BloomIdError)) throw one;
        });
      }
      throw error;
    }
    if (errors.length > 0) throw errors[0];
  }

  /**
   * Adds ids again whose method has ended, unless a rebuild cannot have missed both their add and their rows.
   * The method has run, so ids that cannot be recorded are queued, whatever `onError` says, and reported as
   * `add-queued`.
   *
   * @returns the last add of the ids.
   * @throws {BloomUnavailableError} when they could be neither recorded nor queued.
   */
  async registerAgain(registration: Registration): Promise<Registration> {
    const { filter: name, keys } = registration;
    const filter = this.service.guardable(name);
    if (keys.length === 0 || !mayBeMissing(filter, registration)) return registration;
    if (this.queues.get(name)?.putOff(keys)) return registration;
    const since = performance.now();
    const before = filter.generation;
    await this.record(filter, keys, 'again');
    return { ...registration, since, generation: filter.generation === before ? before : undefined };
  }

  /**
   * Compares the ids that a write turned out to have with those that were added before it, and adds the
   * others. One advice for each `by` names the write. The rows exist, so ids that cannot be recorded are
   * queued, whatever `onError` says, and reported as `add-queued`. Call it when the write has returned, and
   * hand what it returns to `registerAgain`: at once, or after the commit.
   *
   * @param ids which the database returned, or which the arguments have now. Null and undefined are skipped;
   *   any other value that cannot be an id is reported as `store-error`.
   * @param by what wrote the rows, for people: `ProductRepository.create`, `the model Product`.
   * @returns the registration of all these ids; the same object where all had been added before.
   * @throws {BloomUnavailableError} when they could be neither recorded nor queued.
   */
  async registerWritten(
    registration: Registration,
    ids: readonly unknown[],
    by: string,
  ): Promise<Registration> {
    const { filter: name, keys } = registration;
    const given = new Set<unknown>(registration.ids);
    // Bytes may have been changed in place.
    const isOther = (id: unknown) =>
      id !== null && id !== undefined && (id instanceof Uint8Array || !given.has(id));
    const others = ids.filter(isOther) as BloomId[];
    if (others.length === 0) return registration;
    const filter = this.service.guardable(name);
    const { keys: found, errors } = keysOf(filter, others);
    for (const error of errors) {
      this.service.emit({ type: 'store-error', filter: name, operation: `add of an id of ${by}`, error });
    }
    const recorded = new Set(keys.map(idNote));
    const missing = found.filter((key) => !recorded.has(idNote(key)));
    if (missing.length === 0) return registration;
    await this.record(filter, missing, 'written');
    this.adviseOnWritten(name, by, missing[0]!);
    return { ...registration, ids: [...registration.ids, ...others], keys: [...keys, ...missing] };
  }

  /**
   * The same, with the ids that its arguments have now, for a write that failed, perhaps after its commit:
   * the caller gets the error of the write, and none of this.
   */
  async registerFailed(registration: Registration, ids: readonly unknown[] = [], by = ''): Promise<void> {
    const { filter } = registration;
    try {
      await this.registerAgain(await this.registerWritten(registration, ids, by));
    } catch (error) {
      this.service.emit({ type: 'store-error', filter, operation: 'add again', error });
    }
  }

  /** Called when a method has thrown whose ids were added before it ran: it has probably made no rows. */
  recordFailed({ filter, newIds }: Registration, method: string): void {
    if (newIds > 0) this.service.find(filter)?.reportFailedAdds({ ids: newIds, method });
  }

  /**
   * Reports a call that was refused since one of its values cannot be an id: its client gets an answer that
   * names no cause.
   *
   * @internal
   */
  reportRefused(filter: string, method: string, error: BloomIdError): void {
    this.service.emit({ type: 'invalid-id', filter, error, method, answered: true });
  }

  /** Whether a filter can have this value as an id. */
  isId(filter: string, value: unknown): boolean {
    try {
      this.service.guardable(filter).keys.ofAdded(value);
      return true;
    } catch {
      return false;
    }
  }

  /** Whether the application has ended. */
  get isClosed(): boolean {
    return this.closed;
  }

  /** Tries once more to record what is queued, and queues no more. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
  }

  /**
   * @param onError `written`: the rows of the ids exist, so any error queues them. `again`: and the ids were
   * added before.
   * @returns how many of the ids are known to be new to the filter.
   */
  private async record(
    filter: GuardableFilter,
    keys: readonly IdKey[],
    onError: RegisterRequest['onError'] | 'written' | 'again',
  ): Promise<number> {
    if (keys.length === 0) return 0;
    try {
      const origin = onError === 'again' ? 'row' : 'application';
      return (await filter.addKeys(keys, origin)).filter(Boolean).length;
    } catch (error) {
      const isMistake = error instanceof BloomIdError || error instanceof BloomConfigError;
      const isMade = onError === 'written' || onError === 'again';
      const isQueued = isMade || (onError === 'queue' && !isMistake);
      if (!isQueued || this.closed) throw error;
      this.queue(filter).put(keys, error);
      return 0;
    }
  }

  private adviseOnWritten(filter: string, by: string, key: IdKey): void {
    const write = `${filter} ${by}`;
    if (this.advised.has(write)) return;
    this.advised.add(write);
    const [text, withoutId] = [writtenUnrecorded(by, key), writtenUnrecorded(by)];
    this.service.emit({ type: 'advice', filter, text, withoutId });
  }

  private queue(filter: GuardableFilter): AddQueue {
    let queue = this.queues.get(filter.name);
    if (!queue) {
      queue = new AddQueue({ filter, emit: this.service.emit });
      this.queues.set(filter.name, queue);
      filter.guarding.queued = queue;
    }
    return queue;
  }
}

/** The keys of all values that can be added, and the errors of the others. */
function keysOf(
  { keys: idKeys }: GuardableFilter,
  ids: readonly BloomId[],
): { keys: IdKey[]; errors: unknown[] } {
  const keys: IdKey[] = [];
  const errors: unknown[] = [];
  for (const id of ids) {
    try {
      keys.push(idKeys.ofAdded(id));
    } catch (error) {
      errors.push(error);
    }
  }
  return { keys, errors };
}

/**
 * Whether a generation may be live, or about to be, that has neither the add nor the row: a rebuild reads the
 * source `drainMs` after it began, and an add of before is not in what it builds. Where this is not known, it
 * may.
 */
function mayBeMissing(filter: GuardableFilter, { since, generation }: Registration): boolean {
  const isLate = performance.now() - since >= filter.drainMs * SAFE_SHARE;
  return isLate || generation === undefined || filter.generation !== generation;
}
