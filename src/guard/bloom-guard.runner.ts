import { HttpException, NotFoundException, ServiceUnavailableException } from '@nestjs/common';
import { BloomIdError } from '../common/index.js';
import type { BloomId } from '../filter/index.js';
import type { BloomVerdict, DenialAnswer } from '../store/index.js';
import type { BloomService, GuardableFilter } from '../service/index.js';
import type { AddQueue } from './add.queue.js';
import { type CallOutcome, outcomeOfError, outcomeOfResult, typeOfResult } from './call-outcome.js';
import { DenialScopes } from './denial-scopes.js';
import type { AskedCall, GuardDecision, GuardedCall, ObservedCall } from './guarded-call.js';
import { checkGuardDefaults } from './guard-options.check.js';
import type { BloomGuardDefaults } from './guard.options.js';
import { IdRegistrar } from './id.registrar.js';
import { type SharedCall, SharedCalls } from './shared-calls.js';
import { syncAnswer } from './sync-answer.js';

const PASS: GuardDecision = {};
/** Characters of a key by which calls are shared; calls with longer ones run alone. */
const MAX_SHARED_KEY = 1024;

export interface BloomGuardRunnerOptions {
  readonly service: BloomService;
  readonly defaults?: BloomGuardDefaults;
}

/** What a runner has that was constructed, and nothing that a test makes in its likeness. */
const MARK = Symbol('runner');

/** Decides and records for all guarded methods of one application, whichever door they are called through. */
export class BloomGuardRunner {
  private readonly mark = MARK;
  private readonly shared = new SharedCalls();
  private readonly scopes = new DenialScopes();
  private readonly queues = new Map<string, AddQueue>();
  private readonly handlers = new WeakMap<object, object>();
  readonly registrar: IdRegistrar;

  /** @throws {BloomConfigError} for a default that cannot work. */
  constructor(private readonly options: BloomGuardRunnerOptions) {
    this.registrar = new IdRegistrar(options.service, this.queues);
    if (options.defaults) checkGuardDefaults(options.defaults, 'BloomModule.forRoot({ guard })');
  }

  /** Whether a value is a runner: a test may have had something else injected in its place. */
  static isRunner(value: unknown): value is BloomGuardRunner {
    return typeof value === 'object' && value !== null && (value as BloomGuardRunner).mark === MARK;
  }

  /** To be called when every module has been made, with the objects that the application has one of. */
  learnSingletons(objects: ReadonlySet<object>): void {
    this.scopes.learn(objects);
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
    let id: unknown;
    try {
      id = call.door.id(call);
    } catch (error) {
      return isInvalidId(error)
        ? this.decideOnInvalid(call, filter, error)
        : this.decideWithoutId(call, filter, error);
    }
    if (this.queues.size > 0 && this.queues.get(guard.filter)?.has(id)) return PASS;
    const { negativeCache } = guarding;
    const denialKey = negativeCache || filter.askDenied ? this.scopes.keyOf(call, id, filter) : undefined;
    if (denialKey && negativeCache?.has(denialKey.text, denialKey.scope)) {
      guarding.remembered++;
      if (guarding.mode === 'on') return this.answerAbsent(call);
    }
    const since = denialKey && filter.askDenied ? performance.now() : 0;
    let verdict: BloomVerdict | Promise<BloomVerdict>;
    try {
      verdict = filter.verdictOf(id as BloomId);
    } catch (error) {
      return this.decideOnInvalid(call, filter, error);
    }
    const asked = { call, filter, id, denialKey, since };
    return typeof verdict === 'string'
      ? this.decideOn(verdict, asked)
      : verdict.then((known) => this.decideOn(known, asked));
  }

  private decideOn(verdict: BloomVerdict, asked: AskedCall): GuardDecision | Promise<GuardDecision> {
    const { call, filter } = asked;
    const { guarding } = filter;
    switch (verdict) {
      case 'maybe':
        guarding.maybe++;
        return filter.askDenied && asked.denialKey ? this.decideShared(asked) : watch(asked, verdict);
      case 'unknown':
        guarding.unknown++;
        return guarding.mode === 'on' ? this.answerUnknown(call) : PASS;
      case 'absent':
        guarding.absent++;
        if (!guarding.isAudited()) return this.answerAbsent(call);
        return watch({ ...asked, id: lasting(asked.id) }, verdict);
    }
  }

  /** The option `id` failed: a mistake in it must not make rows absent. */
  private decideWithoutId(
    call: GuardedCall,
    { name, guarding }: GuardableFilter,
    error: unknown,
  ): GuardDecision | Promise<GuardDecision> {
    this.options.service.emit({ type: 'invalid-id', filter: name, error });
    guarding.unknown++;
    return guarding.mode === 'on' ? this.answerUnknown(call) : PASS;
  }

  /** The value can be no row's id: neither `add` nor the source takes it. */
  private async decideOnInvalid(
    call: GuardedCall,
    { name, guarding }: GuardableFilter,
    error: unknown,
  ): Promise<GuardDecision> {
    const { options, method } = call.guard;
    guarding.invalid++;
    const onInvalid =
      options.onInvalid ?? this.options.defaults?.onInvalid ?? (call.door.isRoute() ? 'absent' : undefined);
    const isAnswered = guarding.mode === 'on' && (onInvalid ?? this.onUnknown(call)) !== 'pass';
    const answered = isAnswered ? { method, answered: true as const } : {};
    this.options.service.emit({ type: 'invalid-id', filter: name, error, ...answered });
    if (!isAnswered) return PASS;
    if (onInvalid === undefined) return this.answerUnknown(call);
    if (typeof onInvalid !== 'function') return this.answerAbsent(call);
    return { answer: { value: await onInvalid.apply(call.self, [...call.args]) } };
  }

  /** False for a request that an interceptor had here before: put on a controller and on its route, it runs twice. */
  meetsFirst(request: object, handler: object): boolean {
    if (this.handlers.get(request) === handler) return false;
    this.handlers.set(request, handler);
    return true;
  }

  /**
   * Runs the method, or joins a call for the same id and key that runs, unless that may have missed an id which was added lately.
   * Undefined when the call must run alone.
   */
  shareCall(call: GuardedCall, proceed: () => Promise<unknown>): SharedCall | undefined {
    const { guard, self, args } = call;
    const filter = this.options.service.find(guard.filter);
    if (!filter || !guard.options.coalesce) return undefined;
    const adds = filter.guarding.recentAdds;
    let text: string;
    try {
      text = filter.keyText(call.door.id(call));
    } catch {
      return undefined; // An invalid id: the check has reported it.
    }
    const key = this.callback(call, 'coalesce.key', () => {
      const { key } = guard.options.coalesce as { key: Function };
      const answer: unknown = syncAnswer('coalesce.key', key.apply(self, [...args]));
      if (answer === undefined || typeof answer === 'string') return answer;
      throw new TypeError(`Expected coalesce.key to return a string or undefined, got ${typeof answer}.`);
    });
    if (key === undefined || key.length > MAX_SHARED_KEY) return undefined;
    return this.shared.run({
      self: self as object,
      guard,
      key: `${text.length} ${text}${key}`,
      isTooOld: (startedAt) => adds.mayMiss(text, startedAt),
      proceed,
    });
  }

  /** The filter lets the id through: perhaps the database has denied it to another process. */
  private async decideShared(asked: AskedCall): Promise<GuardDecision> {
    const { call, filter, id, denialKey, since } = asked;
    const { guarding } = filter;
    const denial = await filter.askDenied!({ id, scope: denialKey!.scope, since });
    if (denial.isDenied) {
      guarding.remembered++;
      if (guarding.mode === 'on') return this.answerAbsent(call);
    }
    return watch(asked, 'maybe', denial);
  }

  /**
   * Learns from what the method returned.
   *
   * @param isJoined whether the method was called for another caller: it may have begun before the decision.
   */
  settleResult(watched: ObservedCall, result: unknown, isJoined = false): void {
    const { call } = watched.asked;
    const { isFound } = call.guard.options;
    const isPlain = result !== null && result !== undefined && !Array.isArray(result);
    // Most calls: something was found for an id that the filter let through, and there is nothing to learn.
    if (isPlain && !isFound && watched.verdict !== 'absent') return;
    const outcome = this.callback(call, 'isFound', () => outcomeOfResult(result, { ...call, isFound }));
    if (outcome) this.settle(watched, outcome, isJoined, result);
  }

  /** Learns from what the method threw. */
  settleError(watched: ObservedCall, error: unknown, isJoined = false): void {
    this.settle(watched, outcomeOfError(error), isJoined);
  }

  private settle(
    { asked, verdict, readAt, denial }: ObservedCall,
    outcome: CallOutcome,
    isJoined: boolean,
    result?: unknown,
  ): void {
    const { filter, id, denialKey } = asked;
    const { guarding } = filter;
    const { method } = asked.call.guard;
    if (outcome === 'negativeCacheAsk' || outcome === 'nothing') guarding.discerning.add(method);
    if (verdict === 'absent') {
      if (outcome === 'found')
        void filter.reportWrongAbsent({ id: id as BloomId, method, returned: typeOfResult(result) });
      return;
    }
    if (outcome !== 'negativeCacheAsk' && outcome !== 'nothing') return;
    guarding.falsePositives++;
    if (isJoined || outcome !== 'negativeCacheAsk' || !denialKey) return;
    if (denial) denial.note();
    else guarding.negativeCache?.remember(denialKey.text, denialKey.scope, readAt);
  }

  private onUnknown({ guard }: GuardedCall): NonNullable<BloomGuardDefaults['onUnknown']> {
    return guard.options.onUnknown ?? this.options.defaults?.onUnknown ?? 'pass';
  }

  private async answerUnknown(call: GuardedCall): Promise<GuardDecision> {
    const onUnknown = this.onUnknown(call);
    if (onUnknown === 'pass') return PASS;
    if (onUnknown === 'unavailable') throw new ServiceUnavailableException();
    return { answer: { value: await onUnknown.apply(call.self, [...call.args]) } };
  }

  private async answerAbsent(call: GuardedCall): Promise<GuardDecision> {
    const { guard, self, args } = call;
    const onAbsent = guard.options.onAbsent ?? this.options.defaults?.onAbsent;
    if (onAbsent) return { answer: { value: await onAbsent.apply(self, [...args]) } };
    if (call.door.isRoute()) throw new NotFoundException();
    return { answer: { value: null } };
  }

  /** What a function of the application returns; undefined, and an event, when it throws. */
  private callback<Result>(
    { guard }: GuardedCall,
    operation: 'isFound' | 'coalesce.key',
    run: () => Result,
  ): Result | undefined {
    try {
      return run();
    } catch (error) {
      const { filter, method } = guard;
      this.options.service.emit({ type: 'guard-error', filter, method, operation, error });
      return undefined;
    }
  }

  /** Tries once more to record what is queued, and queues no more. To be called before the store closes. */
  close(): Promise<void> {
    return this.registrar.close();
  }
}

/** Whether a function of the application says that the client's value is no id, in place of failing. */
function isInvalidId(error: unknown): boolean {
  if (error instanceof BloomIdError) return true;
  return error instanceof HttpException && error.getStatus() >= 400 && error.getStatus() < 500;
}

/** Bytes belong to the caller, who may write others into them while the method runs. */
function lasting(id: unknown): unknown {
  return id instanceof Uint8Array ? new Uint8Array(id) : id;
}

function watch(asked: AskedCall, verdict: BloomVerdict, denial?: DenialAnswer): GuardDecision {
  const readAt = asked.denialKey && asked.filter.guarding.negativeCache ? performance.now() : 0;
  return { watched: { asked, verdict, readAt, denial } };
}
