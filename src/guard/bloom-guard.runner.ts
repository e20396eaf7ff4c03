import { NotFoundException, ServiceUnavailableException } from '@nestjs/common';
import { BloomConfigError, BloomIdError } from '../common/index.js';
import type { BloomId } from '../filter/index.js';
import type { BloomService, GuardableFilter } from '../service/index.js';
import { AddQueue, type AddQueueLimits } from './add.queue.js';
import { SharedCalls } from './shared-calls.js';
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

/** What a guard decided on a call. */
export interface GuardDecision {
  /** The call is answered with this, in place of the method. */
  readonly answer?: { readonly value: unknown };
  /** To be called with how the method ended, when it is let through. */
  readonly settle?: (outcome: CallOutcome) => void;
}

/** `nothing`: the method gave null or undefined, or threw NotFound. `failed`: it threw something else. */
export type CallOutcome = 'found' | 'nothing' | 'failed';

const PASS: GuardDecision = {};
const NO_ID = Symbol('no id');

export interface BloomGuardRunnerOptions {
  readonly service: BloomService;
  readonly defaults?: BloomGuardDefaults;
  /** Of ids that wait to be recorded (`onError: 'queue'`), for each filter. */
  readonly queueLimits?: AddQueueLimits;
}

/** Decides and records for all guarded methods of one application, whichever door they are called through. */
export class BloomGuardRunner {
  readonly shared = new SharedCalls();
  private readonly queues = new Map<string, AddQueue>();
  private readonly handlers = new WeakMap<object, object>();
  private closed = false;

  constructor(private readonly options: BloomGuardRunnerOptions) {}

  async decide(call: GuardedCall): Promise<GuardDecision> {
    const { guard } = call;
    const { service } = this.options;
    if (!service.has(guard.filter)) {
      service.emit({ type: 'filter-missing', filter: guard.filter, method: guard.method });
      return PASS;
    }
    const filter = service.guardable(guard.filter);
    const { guarding } = filter;
    if (guarding.mode === 'off') return PASS;
    const id = this.readId(call);
    if (this.queues.get(guard.filter)?.has(id)) return PASS;
    if (isDenied(filter, id)) {
      guarding.remembered++;
      if (guarding.mode === 'on') return this.answerAbsent(call);
    }
    // What is no id is told as an event and is unknown to the filter.
    const verdict = id === NO_ID ? 'unknown' : await filter.check(id as BloomId);
    guarding[verdict]++;
    switch (verdict) {
      case 'maybe':
        return { settle: (outcome) => noteFalsePositive(filter, id, outcome) };
      case 'unknown':
        return guarding.mode === 'on' ? this.answerUnknown(call) : PASS;
      case 'absent':
        if (!guarding.isAudited()) return this.answerAbsent(call);
        return {
          settle: (outcome) => {
            if (outcome === 'found') void filter.reportWrongAbsent(id as BloomId);
          },
        };
    }
  }

  /** False for a request that an interceptor had here before: put on a controller and on its route, it runs twice. */
  meetsFirst(request: object, handler: object): boolean {
    if (this.handlers.get(request) === handler) return false;
    this.handlers.set(request, handler);
    return true;
  }

  private async answerUnknown({ guard, self, args }: GuardedCall): Promise<GuardDecision> {
    const onUnknown = guard.options.onUnknown ?? this.options.defaults?.onUnknown ?? 'pass';
    if (onUnknown === 'pass') return PASS;
    if (onUnknown === 'unavailable') throw new ServiceUnavailableException();
    return { answer: { value: await onUnknown.apply(self, [...args]) } };
  }

  private async answerAbsent({ guard, self, args, isRoute }: GuardedCall): Promise<GuardDecision> {
    const onAbsent = guard.options.onAbsent ?? this.options.defaults?.onAbsent;
    if (onAbsent) return { answer: { value: await onAbsent.apply(self, [...args]) } };
    if (isRoute()) throw new NotFoundException();
    return { answer: { value: null } };
  }

  private readId({ guard, id }: GuardedCall): unknown {
    try {
      return id();
    } catch (error) {
      this.options.service.emit({ type: 'invalid-id', filter: guard.filter, error });
      return NO_ID;
    }
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
      queue = new AddQueue({ filter: service.guardable(name), emit: service.emit, limits: queueLimits });
      this.queues.set(name, queue);
    }
    return queue;
  }
}

/** Whether the id has passed the filter lately, and was denied by the database. */
function isDenied(filter: GuardableFilter, id: unknown): boolean {
  const { negativeCache } = filter.guarding;
  if (!negativeCache || negativeCache.size === 0) return false;
  try {
    return negativeCache.has(filter.keyText(id));
  } catch {
    return false; // No id: the check says so, and tells it.
  }
}

function noteFalsePositive(filter: GuardableFilter, id: unknown, outcome: CallOutcome): void {
  if (outcome !== 'nothing') return;
  const { guarding } = filter;
  guarding.falsePositives++;
  guarding.negativeCache?.remember(filter.keyText(id));
}
