import { NotFoundException, ServiceUnavailableException } from '@nestjs/common';
import type { BloomId } from '../filter/index.js';
import type { BloomVerdict, DenialAnswer } from '../store/index.js';
import type { BloomService, GuardableFilter } from '../service/index.js';
import type { AddQueue } from './add.queue.js';
import { IdRegistrar } from './id.registrar.js';
import { type SharedCall, SharedCalls } from './shared-calls.js';
import type { BloomGuardDefaults, BloomGuardedOptions } from './guard.options.js';

/** One `@BloomGuarded` on one method. */
export interface GuardDeclaration {
  readonly filter: string;
  /** For people: `ProductController.findOne`. */
  readonly method: string;
  readonly options: BloomGuardedOptions;
}

/** How calls come to a guard: as calls of the method itself, or as requests of its route. */
export interface GuardDoor {
  /** May throw what an application's own function throws. */
  id(call: GuardedCall): unknown;
  isRoute(): boolean;
}

/**
 * A call that a guard decides on. This and what else is made for each call is an object literal and no class: the engine forgets
 * the shape of a class when a garbage collection meets no instance, and with it the compiled code of all that calls pass.
 */
export interface GuardedCall {
  readonly guard: GuardDeclaration;
  readonly door: GuardDoor;
  readonly self: unknown;
  readonly args: readonly unknown[];
}

/** What a guard decided on a call. */
export interface GuardDecision {
  /** The call is answered with this, in place of the method. */
  readonly answer?: { readonly value: unknown };
  /** The call is let through, and `settle` wants to know how it ends. */
  readonly watched?: WatchedCall;
}

/** A call that was let through, of which something can be learned. */
export interface WatchedCall {
  readonly filter: GuardableFilter;
  readonly guard: GuardDeclaration;
  readonly id: unknown;
  readonly verdict: BloomVerdict;
  /** When the filter had answered, by `performance.now()`; 0 where nobody needs it. */
  readonly readAt: number;
  /** What other processes know of the id, where they share it. */
  readonly denial: DenialAnswer | undefined;
}

/** `nothing`: the method gave null or undefined, or threw NotFound. `failed`: it threw something else. */
export type CallOutcome = 'found' | 'nothing' | 'failed';

/** A call on which the filter was asked. */
interface Asked {
  readonly call: GuardedCall;
  readonly filter: GuardableFilter;
  readonly id: unknown;
  /** When, by `performance.now()`; 0 where nobody needs it. */
  readonly since: number;
}

const PASS: GuardDecision = {};
const NO_ID = Symbol('no id');

export interface BloomGuardRunnerOptions {
  readonly service: BloomService;
  readonly defaults?: BloomGuardDefaults;
}

/** Decides and records for all guarded methods of one application, whichever door they are called through. */
export class BloomGuardRunner {
  private readonly shared = new SharedCalls();
  private readonly queues = new Map<string, AddQueue>();
  private readonly handlers = new WeakMap<object, object>();
  readonly registrar: IdRegistrar;

  constructor(private readonly options: BloomGuardRunnerOptions) {
    this.registrar = new IdRegistrar(options.service, this.queues);
  }

  /** A promise of the decision where another process has to be asked. */
  decide(call: GuardedCall): GuardDecision | Promise<GuardDecision> {
    const { guard } = call;
    const { service } = this.options;
    const filter = service.find(guard.filter);
    if (!filter) {
      service.emit({ type: 'filter-missing', filter: guard.filter, method: guard.method });
      return PASS;
    }
    const { guarding } = filter;
    if (guarding.mode === 'off') return PASS;
    const id = this.readId(call);
    if (this.queues.size > 0 && this.queues.get(guard.filter)?.has(id)) return PASS;
    if (isDenied(filter, id, guard.method)) {
      guarding.remembered++;
      if (guarding.mode === 'on') return this.answerAbsent(call);
    }
    const since = filter.askDenied ? performance.now() : 0;
    // What is no id is told as an event and is unknown to the filter.
    const verdict = id === NO_ID ? 'unknown' : filter.verdictOf(id as BloomId);
    const asked = { call, filter, id, since };
    return typeof verdict === 'string'
      ? this.decideOn(verdict, asked)
      : verdict.then((known) => this.decideOn(known, asked));
  }

  private decideOn(verdict: BloomVerdict, asked: Asked): GuardDecision | Promise<GuardDecision> {
    const { call, filter } = asked;
    const { guarding } = filter;
    switch (verdict) {
      case 'maybe':
        guarding.maybe++;
        return filter.askDenied ? this.decideShared(asked) : watch(asked, verdict);
      case 'unknown':
        guarding.unknown++;
        return guarding.mode === 'on' ? this.answerUnknown(call) : PASS;
      case 'absent':
        guarding.absent++;
        if (!guarding.isAudited()) return this.answerAbsent(call);
        return watch(asked, verdict);
    }
  }

  /** False for a request that an interceptor had here before: put on a controller and on its route, it runs twice. */
  meetsFirst(request: object, handler: object): boolean {
    if (this.handlers.get(request) === handler) return false;
    this.handlers.set(request, handler);
    return true;
  }

  /** Runs the method, or joins an equal call that runs, unless that may have missed an id which was added lately. */
  shareCall(call: GuardedCall, proceed: () => Promise<unknown>): SharedCall {
    const { guard, self, args } = call;
    const { service } = this.options;
    const filter = service.find(guard.filter);
    const adds = filter?.guarding.recentAdds;
    const isTooOld = (startedAt: number): boolean => {
      try {
        return adds !== undefined && adds.mayMiss(filter!.keyText(call.door.id(call)), startedAt);
      } catch {
        return false; // No id: nobody can have added it.
      }
    };
    return this.shared.run({ method: guard.method, self, args, isTooOld, proceed });
  }

  /** The filter lets the id through: perhaps the database has denied it to another process. */
  private async decideShared(asked: Asked): Promise<GuardDecision> {
    const { call, filter, id, since } = asked;
    const { guarding } = filter;
    const denial = await filter.askDenied!({ id, scope: call.guard.method, since });
    if (denial.isDenied) {
      guarding.remembered++;
      if (guarding.mode === 'on') return this.answerAbsent(call);
    }
    return watch(asked, 'maybe', denial);
  }

  /**
   * Learns from how the method ended.
   *
   * @param isJoined whether the method was called for another caller: it may have begun before the decision.
   */
  settle(watched: WatchedCall, outcome: CallOutcome, isJoined = false): void {
    const { filter, id, verdict, denial } = watched;
    const { guarding } = filter;
    if (verdict === 'absent') {
      if (outcome === 'found') void filter.reportWrongAbsent(id as BloomId);
      return;
    }
    if (outcome !== 'nothing') return;
    guarding.falsePositives++;
    if (isJoined) return;
    if (denial) denial.note();
    else if (guarding.negativeCache) remember(watched);
  }

  private async answerUnknown({ guard, self, args }: GuardedCall): Promise<GuardDecision> {
    const onUnknown = guard.options.onUnknown ?? this.options.defaults?.onUnknown ?? 'pass';
    if (onUnknown === 'pass') return PASS;
    if (onUnknown === 'unavailable') throw new ServiceUnavailableException();
    return { answer: { value: await onUnknown.apply(self, [...args]) } };
  }

  private async answerAbsent(call: GuardedCall): Promise<GuardDecision> {
    const { guard, self, args } = call;
    const onAbsent = guard.options.onAbsent ?? this.options.defaults?.onAbsent;
    if (onAbsent) return { answer: { value: await onAbsent.apply(self, [...args]) } };
    if (call.door.isRoute()) throw new NotFoundException();
    return { answer: { value: null } };
  }

  private readId(call: GuardedCall): unknown {
    try {
      return call.door.id(call);
    } catch (error) {
      this.options.service.emit({ type: 'invalid-id', filter: call.guard.filter, error });
      return NO_ID;
    }
  }

  /** Tries once more to record what is queued, and queues no more. To be called before the store closes. */
  close(): Promise<void> {
    return this.registrar.close();
  }
}

/** Whether the id has passed the filter lately, and was denied by the database. */
function isDenied(filter: GuardableFilter, id: unknown, method: string): boolean {
  const { negativeCache } = filter.guarding;
  if (!negativeCache || negativeCache.size === 0) return false;
  try {
    return negativeCache.has(filter.keyText(id), method);
  } catch {
    return false; // No id: the check says so, and tells it.
  }
}

/** Notes that the database denied the id. */
function remember({ filter, guard, id, readAt }: WatchedCall): void {
  try {
    filter.guarding.negativeCache!.remember(filter.keyText(id), guard.method, readAt);
  } catch {
    // Longer than this process takes ids, and let through by a filter that another version of the application built.
  }
}

function watch({ call, filter, id }: Asked, verdict: BloomVerdict, denial?: DenialAnswer): GuardDecision {
  const readAt = filter.guarding.negativeCache ? performance.now() : 0;
  return { watched: { filter, guard: call.guard, id, verdict, readAt, denial } };
}
