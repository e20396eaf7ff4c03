import { BloomError } from '../common/index.js';
import type { IdKey } from '../filter/index.js';
import type { LookupOutcome } from '../store/index.js';
import type { BloomService, GuardableFilter } from '../service/index.js';
import { CallLessons } from './call-lessons.js';
import { DenialScopes, SharedCalls } from './call-sharing.js';
import { GuardAnswers } from './guard-answers.js';
import {
  answeredValue,
  type EarlyCall,
  type GuardDecision,
  type GuardDeclaration,
  type GuardedCall,
  isInvalidId,
  ReaderMistake,
} from './guarded-call.js';
import { idFunctionThrew, NORMALIZE, thrown } from './guard.messages.js';
import type { BloomGuardDefaults } from './guard-options.js';
import { IdRegistrar } from './id-registrar.js';

export interface BloomGuardRunnerOptions {
  readonly service: BloomService;
  readonly defaults?: BloomGuardDefaults;
}

/**
 * What decided a guarded call: the filter, or `remembered`: the negative cache, in place of a false positive.
 */
export type DecidedBy = LookupOutcome | 'remembered';
/** Called with what decided a call of a guarded method. */
export type DecisionListener = (
  guard: { readonly filter: string; readonly method: string },
  by: DecidedBy,
) => void;

type Decided = GuardDecision | Promise<GuardDecision>;

/** The mark of real runners; a test double lacks it. */
export const RUNNER_MARK: unique symbol = Symbol('runner');

/** Decides and records for all guarded methods of one application. Nest injects it into their objects. */
export class BloomGuardRunner {
  /** @internal */
  readonly mark: typeof RUNNER_MARK = RUNNER_MARK;
  private readonly scopes = new DenialScopes();
  /** Filters and methods whose functions have failed over an id. */
  private readonly advised = new Set<string>();
  /** What requests have been checked for. */
  private readonly met = new WeakMap<object, object[]>();
  /** Calls by their requests. @internal */
  readonly early = new WeakMap<object, readonly EarlyCall[]>();
  /** By the numbers of the guards: a search by name takes longer. */
  private readonly filters: (GuardableFilter | undefined)[] = [];
  /** Whether an interceptor guards routes that declare no guard. @internal */
  hasRoutesOfInterceptors = false;
  /** Called at once with what each guarded call was decided by; must not throw. @internal */
  onDecision: DecisionListener | undefined = undefined;
  /** Filters whose ids a write hook of a library records. @internal */
  readonly recorded = new Set<string>();
  /** @internal */
  readonly answers: GuardAnswers;
  /** @internal */
  readonly lessons: CallLessons;
  /** @internal */
  readonly shared: SharedCalls;
  /** @internal */
  readonly registrar: IdRegistrar;
  /** @internal */
  readonly service: BloomService;

  /** @internal */
  constructor({ service, defaults }: BloomGuardRunnerOptions) {
    this.service = service;
    this.answers = new GuardAnswers(defaults);
    this.lessons = new CallLessons(service, this.answers);
    this.shared = new SharedCalls(this.lessons, this.answers);
    this.registrar = new IdRegistrar(service);
  }

  /** @internal */
  static isRunner(value: unknown): value is BloomGuardRunner {
    return typeof value === 'object' && value !== null && (value as BloomGuardRunner).mark === RUNNER_MARK;
  }

  /**
   * Called when every module has been created, with the objects of which the application has one. @internal
   */
  learnSingletons(objects: ReadonlySet<object>): void {
    this.scopes.learn(objects);
  }

  /**
   * Decides on a call: a promise of the decision where another process has to be asked. What it has found out
   * of a call that is let through stands in the call.
   *
   * @internal
   */
  decide(call: GuardedCall): Decided {
    const { guard, entry } = call;
    const filter =
      (guard.number === undefined ? undefined : this.filters[guard.number]) ?? this.filterOf(guard);
    if (!filter) return undefined;
    call.filter = filter;
    const { guarding, keys, sharedCache } = filter;
    const { mode, negativeCache, queued } = guarding;
    const isShared = guard.options.coalesce !== undefined && guard.options.coalesce !== false;
    if (mode === 'off') {
      if (isShared) call.note = noteOf(call, filter);
      return undefined;
    }

    let key: IdKey;
    let readBy = entry.readBy;
    try {
      call.id = entry.readId(call.self, call.args);
      readBy = NORMALIZE;
      key = call.key = keys.of(call.id);
    } catch (error) {
      return this.decideWithoutId(call, filter, { error, thrownBy: readBy });
    }

    // Before the filter is asked: an id leaves the queue when it is in the filter.
    const note = isShared || negativeCache || sharedCache || queued ? keys.digestOf(key) : undefined;
    call.note = note;
    if (note !== undefined && queued?.has(note)) {
      this.onDecision?.(guard, 'maybe');
      return undefined;
    }

    let since = 0;
    if (note !== undefined && (negativeCache || sharedCache)) {
      const denialKey = this.scopes.keyOf(call, sharedCache !== undefined);
      call.denialKey = denialKey;
      if (denialKey && negativeCache?.has(denialKey.text, denialKey.scope) && !filter.isBeyond(key))
        return this.decideRemembered(call, filter);
      if (denialKey && sharedCache) since = performance.now();
    }

    const outcome = filter.checkKey(key);
    if (typeof outcome === 'string') return this.decideOn(call, filter, since, outcome);
    call.isRemote = true;
    return outcome.then(this.decideOn.bind(this, call, filter, since));
  }

  /** @param since when the lookup began, by `performance.now()`; 0 where nobody needs it. */
  private decideOn(
    call: GuardedCall,
    filter: GuardableFilter,
    since: number,
    outcome: LookupOutcome,
  ): Decided {
    const { guard } = call;
    const { guarding, sharedCache } = filter;
    if (outcome === 'absent') {
      this.onDecision?.(guard, 'absent');
      if (guarding.blocks(guard)) return this.answers.absent(call);
      call.verdict = 'absent';
      // Bytes belong to the caller, who may write others into them while the method runs.
      if (call.id instanceof Uint8Array) call.id = new Uint8Array(call.id);
      return undefined;
    }
    if (outcome === 'maybe' && call.note !== undefined) {
      // The row may become visible at any time: no other call is answered by what this one finds.
      if (filter.isBeyond(call.key!)) call.note = call.denialKey = undefined;
      else if (sharedCache && call.denialKey) return this.decideShared(call, filter, since);
      if (call.denialKey && guarding.negativeCache) call.readAt = performance.now();
    }
    guarding.record(outcome, guard);
    this.onDecision?.(guard, outcome);
    if (outcome === 'maybe') {
      call.verdict = 'maybe';
      return undefined;
    }
    if (outcome === 'beyond') call.note = undefined;
    return guarding.mode === 'on' ? this.answers.unknown(call) : undefined;
  }

  /** The filter lets the id through: perhaps the database has denied it to another process. */
  private async decideShared(
    call: GuardedCall,
    filter: GuardableFilter,
    since: number,
  ): Promise<GuardDecision> {
    const { scope } = call.denialKey!;
    const denial = await filter.sharedCache!.ask({ id: call.key!, scope, since });
    call.denial = denial;
    if (denial.isDenied) return this.decideRemembered(call, filter);
    filter.guarding.record('maybe', call.guard);
    this.onDecision?.(call.guard, 'maybe');
    call.verdict = 'maybe';
    return undefined;
  }

  private decideRemembered(call: GuardedCall, { guarding }: GuardableFilter): Decided {
    const { guard } = call;
    guarding.recordRemembered(guard);
    this.onDecision?.(guard, 'remembered');
    if (guarding.mode === 'on') {
      guarding.recordSaved(guard);
      return this.answers.absent(call);
    }
    call.verdict = 'maybe';
    if (guarding.negativeCache) call.readAt = performance.now();
    return undefined;
  }

  /**
   * Decides on a call whose value cannot be an id, or over whose value a function of the application failed.
   *
   * @param mistake what was thrown, and for people: by which function.
   */
  private decideWithoutId(
    call: GuardedCall,
    { name, guarding, lookups }: GuardableFilter,
    { error, thrownBy }: { readonly error: unknown; readonly thrownBy: string },
  ): Decided {
    const { answers } = this;
    const { guard } = call;
    this.onDecision?.(guard, 'invalid-id');
    // It is not known yet how ids are spelled, or a mistake that no value of a client causes.
    const isOurs = error instanceof BloomError || error instanceof ReaderMistake;
    const isInvalid = isInvalidId(error) || (!isOurs && answers.onThrow(call) === 'invalid');
    if (!isInvalid && !isOurs) this.adviseOnThrown(guard, thrownBy, error);
    guarding.recordUnread(isInvalid, guard);
    lookups.recordUnknown('invalid-id', 1);
    const onInvalid = isInvalid ? answers.onInvalid(call) : 'unknown';
    const action = guarding.mode === 'on' ? onInvalid : 'pass';
    const answered = isInvalid && action !== 'pass' && { answered: true as const };
    this.service.emit({ type: 'invalid-id', filter: name, error, method: guard.method, ...answered });
    if (action === 'pass') return undefined;
    if (action === 'unknown') return answers.unknown(call);
    guarding.recordSaved(guard);
    return action === 'absent' ? answers.absent(call) : answers.from(action, call);
  }

  private adviseOnThrown(guard: GuardDeclaration, thrownBy: string, error: unknown): void {
    const { method, filter } = guard;
    const key = `${filter} ${method}`;
    if (this.advised.has(key)) return;
    this.advised.add(key);
    const text = idFunctionThrew(guard, thrownBy, thrown(error));
    const withoutId = idFunctionThrew(guard, thrownBy, error instanceof Error ? error.name : 'an error');
    this.service.emit({ type: 'advice', filter, text, withoutId });
  }

  private filterOf({ number, filter: name, method }: GuardDeclaration): GuardableFilter | undefined {
    const filter = this.service.lookUp(name, method);
    if (filter === undefined || number === undefined) return filter;
    // An array with gaps is slower.
    while (this.filters.length < number) this.filters.push(undefined);
    return (this.filters[number] = filter);
  }

  /** What a guard answers for an absent id. @internal */
  async answerAbsent(call: GuardedCall): Promise<unknown> {
    return answeredValue(await this.answers.absent(call));
  }

  /**
   * False for a request that an interceptor has checked before: put on a controller and on its route, it runs
   * twice.
   *
   * @param by what the check is made for: a handler, or an interceptor that guards undeclared routes.
   * @internal
   */
  meetsFirst(request: object, by: object): boolean {
    const met = this.met.get(request);
    if (met?.includes(by)) return false;
    if (met) met.push(by);
    else this.met.set(request, [by]);
    return true;
  }

  /**
   * Tries once more to record what is queued, and queues no more. Called before the store closes. @internal
   */
  close(): Promise<void> {
    return this.registrar.close();
  }
}

/** The note of a call's id; undefined where it has none. */
function noteOf({ entry, self, args }: GuardedCall, { keys }: GuardableFilter): string | undefined {
  try {
    return keys.digestOf(keys.of(entry.readId(self, args)));
  } catch {
    return undefined;
  }
}

/**
 * Records the ids of rows that a library writes, for the application of this runner.
 *
 * @param filter whose rows they are: its start says nothing of rows that nobody records.
 */
export function registrarOf(runner: BloomGuardRunner, filter?: string): IdRegistrar {
  if (filter !== undefined) runner.recorded?.add(filter);
  return runner.registrar;
}

/**
 * Calls `listener` at once with what each guarded call is decided by, until the returned function is called.
 * It must not throw. What stands in for a runner in a test decides nothing.
 */
export function listenToDecisions(
  runner: BloomGuardRunner | undefined,
  listener: DecisionListener,
): () => void {
  if (!BloomGuardRunner.isRunner(runner)) return () => {};
  runner.onDecision = listener;
  return () => {
    if (runner.onDecision === listener) runner.onDecision = undefined;
  };
}
