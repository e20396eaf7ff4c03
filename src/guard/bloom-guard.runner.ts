import { NotFoundException, ServiceUnavailableException } from '@nestjs/common';
import { BloomConfigError, BloomIdError } from '../common/index.js';
import type { BloomId } from '../filter/index.js';
import type { BloomService } from '../service/index.js';
import type { BloomVerdict } from '../store/index.js';
import { AddQueue, type AddQueueLimits } from './add.queue.js';
import type { BloomGuardDefaults, BloomGuardedOptions, BloomRegistersOptions } from './guard.options.js';

/** One `@BloomGuarded` on one method. */
export interface GuardDeclaration {
  readonly filter: string;
  /** For people: `ProductController.findOne`. */
  readonly method: string;
  readonly options: BloomGuardedOptions;
}

/** A call that a guard decides on, as its door sees it. */
export interface GuardedCall {
  readonly guard: GuardDeclaration;
  readonly self: unknown;
  readonly args: readonly unknown[];
  readonly id: () => unknown;
  readonly isRoute: () => boolean;
}

/** The call is answered with this, in place of the method. */
export interface GuardAnswer {
  readonly value: unknown;
}

export interface BloomGuardRunnerOptions {
  readonly service: BloomService;
  readonly defaults?: BloomGuardDefaults;
  /** Of ids that wait to be recorded (`onError: 'queue'`), for each filter. */
  readonly queueLimits?: AddQueueLimits;
}

/** Decides and records for all guarded methods of one application, whichever door they are called through. */
export class BloomGuardRunner {
  private readonly queues = new Map<string, AddQueue>();
  private readonly handlers = new WeakMap<object, object>();
  private closed = false;

  constructor(private readonly options: BloomGuardRunnerOptions) {}

  /** The answer to give in place of the method; undefined when the method is to run. */
  async decide(call: GuardedCall): Promise<GuardAnswer | undefined> {
    const { guard, self, args } = call;
    const { service, defaults } = this.options;
    if (!service.has(guard.filter)) {
      service.emit({ type: 'filter-missing', filter: guard.filter, method: guard.method });
      return undefined;
    }
    const verdict = await this.verdict(call);
    if (verdict === 'maybe') return undefined;
    if (verdict === 'unknown') {
      const onUnknown = guard.options.onUnknown ?? defaults?.onUnknown ?? 'pass';
      if (onUnknown === 'pass') return undefined;
      if (onUnknown === 'unavailable') throw new ServiceUnavailableException();
      return { value: await onUnknown.apply(self, [...args]) };
    }
    const onAbsent = guard.options.onAbsent ?? defaults?.onAbsent;
    if (onAbsent) return { value: await onAbsent.apply(self, [...args]) };
    if (call.isRoute()) throw new NotFoundException();
    return { value: null };
  }

  /** False for a request that an interceptor had here before: put on a controller and on its route, it runs twice. */
  meetsFirst(request: object, handler: object): boolean {
    if (this.handlers.get(request) === handler) return false;
    this.handlers.set(request, handler);
    return true;
  }

  private async verdict({ guard, id }: GuardedCall): Promise<BloomVerdict> {
    const { service } = this.options;
    let value: unknown;
    try {
      value = id();
    } catch (error) {
      service.emit({ type: 'invalid-id', filter: guard.filter, error });
      return 'unknown';
    }
    if (this.queues.get(guard.filter)?.has(value)) return 'maybe';
    return service.filter(guard.filter).check(value as BloomId);
  }

  /**
   * Adds an id, or each of an array of ids.
   *
   * @throws {BloomConfigError} when the filter is not registered.
   * @throws {BloomIdError} when one of them is no id; then none is recorded.
   * @throws {BloomUnavailableError} when they could not be recorded, nor queued.
   */
  async register(options: {
    filter: string;
    ids: unknown;
    onError: BloomRegistersOptions['onError'];
  }): Promise<void> {
    const filter = this.options.service.filter(options.filter);
    const given = (Array.isArray(options.ids) ? options.ids : [options.ids]) as BloomId[];
    // The caller may use the array and its bytes again while an id waits.
    const ids = given.map((id) => (id instanceof Uint8Array ? new Uint8Array(id) : id));
    if (ids.length === 0) return;
    try {
      await filter.addMany(ids);
    } catch (error) {
      if (options.onError !== 'queue' || this.closed) throw error;
      if (error instanceof BloomIdError || error instanceof BloomConfigError) throw error;
      this.queue(options.filter).put(ids, error);
    }
  }

  /** Tries once more to record what is queued, and queues no more. To be called before the store closes. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
  }

  private queue(name: string): AddQueue {
    let queue = this.queues.get(name);
    if (!queue) {
      const { service, queueLimits } = this.options;
      queue = new AddQueue({ filter: service.filter(name), emit: service.emit, limits: queueLimits });
      this.queues.set(name, queue);
    }
    return queue;
  }
}
