import { BloomConfigError, BloomIdError } from '../common/index.js';
import type { BloomId } from '../filter/index.js';
import type { BloomService, GuardableFilter } from '../service/index.js';
import { AddQueue } from './add.queue.js';
import type { BloomRegistersOptions } from './guard.options.js';

/**
 * The share of `drainMs` after which a row that is only now visible may have been missed by a rebuild: the rest is for the lag of a replica
 * that the source reads.
 */
const SAFE_SHARE = 0.5;

/** Ids that were added before the method ran that creates their rows. */
export interface Registration {
  readonly filter: string;
  readonly ids: readonly BloomId[];
  /** When the add was called, by `performance.now()`. */
  readonly since: number;
  /** The live generation to which the add was acknowledged; undefined where that is not known. */
  readonly generation: string | undefined;
}

/** Records the ids of what decorated methods create. */
export class IdRegistrar {
  private closed = false;

  /** @param queues of ids that could not be recorded yet, by the name of their filter. */
  constructor(
    private readonly service: BloomService,
    private readonly queues: Map<string, AddQueue>,
  ) {}

  /**
   * Adds ids.
   *
   * @throws {BloomConfigError} when the filter is not registered.
   * @throws {BloomIdError} when one of them is no id; then none is recorded.
   * @throws {BloomUnavailableError} when they could not be recorded, nor queued.
   */
  async register(options: {
    filter: string;
    ids: readonly BloomId[];
    onError: BloomRegistersOptions['onError'];
  }): Promise<Registration> {
    const name = options.filter;
    const filter = this.service.guardable(name);
    const since = performance.now();
    const before = filter.generation;
    // The caller may use the array and its bytes again while an id waits.
    const ids = options.ids.map((id) => (id instanceof Uint8Array ? new Uint8Array(id) : id));
    if (ids.length === 0) return { filter: name, ids, since, generation: before };
    try {
      await filter.addMany(ids);
    } catch (error) {
      if (options.onError !== 'queue' || this.closed) throw error;
      if (error instanceof BloomIdError || error instanceof BloomConfigError) throw error;
      this.queue(name).put(ids, error);
    }
    const generation = filter.generation === before ? before : undefined;
    return { filter: name, ids, since, generation };
  }

  /**
   * Adds the ids of rows that exist already: all that are ids, also where one of them is none.
   *
   * @throws as `register` does.
   */
  async registerMade(options: Parameters<IdRegistrar['register']>[0]): Promise<void> {
    try {
      await this.register(options);
    } catch (error) {
      if (!(error instanceof BloomIdError)) throw error;
      const filter = this.service.guardable(options.filter);
      for (const id of options.ids.filter((one) => isIdOf(filter, one))) {
        await this.register({ ...options, ids: [id] }).catch(throwUnlessInvalid);
      }
      throw error;
    }
  }

  /**
   * Adds ids again whose method has ended, unless a rebuild cannot have missed both their add and their rows. The method has run, so
   * what cannot be recorded is queued, whatever `onError` says, and told of as `add-queued`.
   *
   * @returns the last add of the ids.
   * @throws {BloomUnavailableError} when they could not be recorded, nor queued.
   */
  async registerAgain(registration: Registration): Promise<Registration> {
    const { filter: name, ids } = registration;
    const filter = this.service.guardable(name);
    if (ids.length === 0 || !mayBeMissing(filter, registration)) return registration;
    if (this.queues.get(name)?.putOff(ids)) return registration;
    const since = performance.now();
    const before = filter.generation;
    try {
      await filter.addMany(ids);
    } catch (error) {
      if (this.closed) throw error;
      this.queue(name).put(ids, error);
    }
    return { ...registration, since, generation: filter.generation === before ? before : undefined };
  }

  /** The same for a method that failed, perhaps after its commit: its error goes to the caller, and none of this. */
  async registerFailed(registration: Registration): Promise<void> {
    const { filter } = registration;
    try {
      await this.registerAgain(registration);
    } catch (error) {
      this.service.emit({ type: 'store-error', filter, operation: 'add again', error });
    }
  }

  /** Tries once more to record what is queued, and queues no more. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
  }

  private queue(name: string): AddQueue {
    let queue = this.queues.get(name);
    if (!queue) {
      const { service } = this;
      queue = new AddQueue({ filter: service.guardable(name), emit: service.emit });
      this.queues.set(name, queue);
    }
    return queue;
  }
}

/** The store may take shorter ids than the filter was registered with. */
function throwUnlessInvalid(error: unknown): void {
  if (!(error instanceof BloomIdError)) throw error;
}

function isIdOf(filter: GuardableFilter, id: unknown): boolean {
  try {
    filter.keyText(id);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a generation may be live, or about to be, that has neither the add nor the row: a rebuild reads the source `drainMs` after it
 * began, and an add of before is not in what it builds. Where this is not known, it may.
 */
function mayBeMissing(filter: GuardableFilter, { since, generation }: Registration): boolean {
  const isLate = performance.now() - since >= filter.drainMs * SAFE_SHARE;
  return isLate || generation === undefined || filter.generation !== generation;
}
