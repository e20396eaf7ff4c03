import type { IdKey } from '../filter/index.js';
import type { DenialAnswer, LookupOutcome } from '../store/index.js';
import type { BloomService, GuardableFilter } from '../service/index.js';
import type { AddQueue } from './add-queue.js';
import { CallLessons } from './call-lessons.js';
import { DenialScopes } from './denial-scopes.js';
import { GuardAnswers } from './guard-answers.js';
import { alone, answeredValue, COUNT, type GuardDecision, observe, pass } from './guard-decision.js';
import type { AskedCall, GuardDeclaration, GuardedCall } from './guarded-call.js';
import { checkGuardDefaults } from './guard-options-check.js';
import { NORMALIZE } from './guard.messages.js';
import type { BloomGuardDefaults } from './guard-options.js';
import { IdRegistrar } from './id-registrar.js';
import { type SharedCall, SharedCalls, sharedKey } from './shared-calls.js';
import { UnreadIds } from './unread-ids.js';

export interface BloomGuardRunnerOptions {
  readonly service: BloomService;
  readonly defaults?: BloomGuardDefaults;
}

/** What decided a guarded call: the answer of the filter, or `remembered`: the negative cache, in place of a false positive. */
export type DecidedBy = LookupOutcome | 'remembered';
export type DecisionListener = (
  guard: { readonly filter: string; readonly method: string },
  by: DecidedBy,
) => void;

/** A member of every runner that was constructed, and of no object that a test puts in its place. */
const MARK = Symbol('runner');

/** Decides and records for all guarded methods of one application. Nest injects it into the objects that have such methods. */
export class BloomGuardRunner {
  private readonly mark = MARK;
  private readonly shared = new SharedCalls();
  private readonly scopes = new DenialScopes();
  private readonly queues = new Map<string, AddQueue>();
  private readonly answers: GuardAnswers;
  private readonly unread: UnreadIds;
  private readonly handlers = new WeakMap<object, object>();
  /** By the numbers of the guards: a search by name takes longer. */
  private readonly filters: (GuardableFilter | undefined)[] = [];
  /**
   * Whether an interceptor guards routes that declare no guard.
   *
   * @internal
   */
  hasRoutesOfInterceptors = false;
  /**
   * Called at once with what each guarded call was decided by; must not throw.
   *
   * @internal
   */
  onDecision: DecisionListener | undefined = undefined;
  /** @internal */
  readonly lessons: CallLessons;
  /** @internal */
  readonly registrar: IdRegistrar;
  /** @internal */
  readonly service: BloomService;

  /**
   * @internal
   * @throws {BloomConfigError} for a default that cannot work.
   */
  constructor(private readonly options: BloomGuardRunnerOptions) {
    this.service = options.service;
    this.answers = new GuardAnswers(options.defaults);
    this.unread = new UnreadIds(options.service.emit, this.answers);
    this.lessons = new CallLessons(options.service, this.answers);
    this.registrar = new IdRegistrar(options.service, this.queues);
    if (options.defaults) checkGuardDefaults(options.defaults, 'BloomModule.forRoot({ guard })');
  }

  /** @internal */
  static isRunner(value: unknown): value is BloomGuardRunner {
    return typeof value === 'object' && value !== null && (value as BloomGuardRunner).mark === MARK;
  }

  /**
   * To be called when every module has been created, with the objects of which the application has one.
   *
   * @internal
   */
  learnSingletons(objects: ReadonlySet<object>): void {
    this.scopes.learn(objects);
  }

  /**
   * A promise of the decision where another process has to be asked.
   *
   * @internal
   */
  decide(call: GuardedCall): GuardDecision | Promise<GuardDecision> {
    const { guard, entry, self, args } = call;
    const filter = this.filterOf(guard);
    if (!filter) return pass();
    const { guarding, keys, sharedCache } = filter;
    const isShareable = guard.options.coalesce !== undefined && guard.options.coalesce !== false;
    if (guarding.mode === 'off') return isShareable ? pass(noteOf(call, filter)) : pass();
    let id: unknown;
    try {
      id = entry.readId(self, args);
    } catch (error) {
      this.onDecision?.(guard, 'invalid-id');
      return this.unread.decide(call, filter, { error, thrownBy: entry.readBy });
    }
    let key: IdKey;
    try {
      key = keys.of(id);
    } catch (error) {
      this.onDecision?.(guard, 'invalid-id');
      return this.unread.decide(call, filter, { error, thrownBy: NORMALIZE });
    }
    const { negativeCache } = guarding;
    const queue = this.queues.size > 0 ? this.queues.get(guard.filter) : undefined;
    const note = isShareable || negativeCache || sharedCache || queue ? keys.note(key) : undefined;
    if (note !== undefined && queue?.has(note)) {
      this.onDecision?.(guard, 'maybe');
      return pass(note);
    }
    const denialKey =
      note !== undefined && (negativeCache || sharedCache)
        ? this.scopes.keyOf(call, { id, note, isForAll: sharedCache !== undefined })
        : undefined;
    if (denialKey && negativeCache?.has(denialKey.text, denialKey.scope) && !filter.isBeyond(key)) {
      return this.decideRemembered(call, { filter, id, key, note, denialKey, since: 0 });
    }
    const since = denialKey && sharedCache ? performance.now() : 0;
    const outcome = filter.checkKey(key);
    if (typeof outcome !== 'string') {
      const asked = { filter, id, key, note, denialKey, since };
      return outcome.then(
        (known) => this.decideSimply(known, call, asked) ?? this.decideOn(known, call, asked),
      );
    }
    const decision = this.decideSimply(outcome, call, { filter, note });
    return decision ?? this.decideOn(outcome, call, { filter, id, key, note, denialKey, since });
  }

  private filterOf({ number, filter: name, method }: GuardDeclaration): GuardableFilter | undefined {
    const { filters } = this;
    const known = number === undefined ? undefined : filters[number];
    if (known !== undefined) return known;
    const filter = this.service.lookUp(name, method);
    if (filter === undefined || number === undefined) return filter;
    // An array with gaps is slower.
    while (filters.length < number) filters.push(undefined);
    return (filters[number] = filter);
  }

  /** Decides nearly all calls, of which nothing has to be kept that was asked. Undefined for the others. */
  private decideSimply(
    outcome: LookupOutcome,
    call: GuardedCall,
    { filter, note }: Pick<AskedCall, 'filter' | 'note'>,
  ): GuardDecision | Promise<GuardDecision> | undefined {
    const { guarding } = filter;
    const { guard } = call;
    if (outcome === 'absent' && !guarding.isAudited(guard)) {
      guarding.noteDenied(guard);
      this.onDecision?.(guard, outcome);
      return this.answers.absentAnswer(call);
    }
    // The shared negative cache may answer it.
    if (outcome === 'maybe' && note !== undefined) return undefined;
    guarding.note(outcome, guard);
    this.onDecision?.(guard, outcome);
    return outcome === 'maybe' ? COUNT : undefined;
  }

  private decideOn(
    outcome: LookupOutcome,
    call: GuardedCall,
    asked: AskedCall,
  ): GuardDecision | Promise<GuardDecision> {
    const { filter, note } = asked;
    const { guarding, sharedCache } = filter;
    switch (outcome) {
      case 'maybe':
        if (filter.isBeyond(asked.key)) return this.letThrough(call, alone(asked));
        return sharedCache && asked.denialKey ? this.decideShared(call, asked) : this.letThrough(call, asked);
      case 'absent':
        return observe({ ...asked, id: lasting(asked.id) }, outcome);
      case 'beyond':
        return guarding.mode === 'on' ? this.answers.unknown(call, filter, undefined) : pass();
      default:
        return guarding.mode === 'on' ? this.answers.unknown(call, filter, note) : pass(note);
    }
  }

  /**
   * What a guard answers for an absent id.
   *
   * @internal
   */
  async answerAbsent(call: GuardedCall): Promise<unknown> {
    const { answer } = await this.answers.absentAnswer(call);
    return answer && answeredValue(answer);
  }

  /**
   * False for a request that an interceptor has checked before: put on a controller and on its route, it runs twice.
   *
   * @internal
   */
  meetsFirst(request: object, handler: object): boolean {
    if (this.handlers.get(request) === handler) return false;
    this.handlers.set(request, handler);
    return true;
  }

  /**
   * Runs the method, or joins a running call for the same id and key, unless that one may have missed an id which was added lately.
   * Undefined when the call must run alone.
   *
   * @internal
   */
  shareCall(
    call: GuardedCall,
    { note }: GuardDecision,
    proceed: () => Promise<unknown>,
  ): SharedCall | undefined {
    const { guard, self } = call;
    const filter = this.options.service.find(guard.filter);
    // Of an id that is invalid or too long there is no note.
    const { coalesce } = guard.options;
    if (!filter || !coalesce || note === undefined) return undefined;
    const adds = filter.guarding.recentAdds;
    const key = this.lessons.callback(guard, 'coalesce.key', () => sharedKey(coalesce, call));
    if (key === undefined) return undefined;
    return this.shared.run({
      self: self as object,
      guard,
      key: `${note.length} ${note}${key}`,
      isTooOld: (startedAt) => adds.mayMiss(note, startedAt),
      proceed,
    });
  }

  /** The filter lets the id through: perhaps the database has denied it to another process. */
  private async decideShared(call: GuardedCall, asked: AskedCall): Promise<GuardDecision> {
    const { filter, key, denialKey, since } = asked;
    const denial = await filter.sharedCache!.ask({ id: key, scope: denialKey!.scope, since });
    return denial.isDenied
      ? this.decideRemembered(call, asked, denial)
      : this.letThrough(call, asked, denial);
  }

  private decideRemembered(
    call: GuardedCall,
    asked: AskedCall,
    denial?: DenialAnswer,
  ): GuardDecision | Promise<GuardDecision> {
    const { guarding } = asked.filter;
    guarding.noteRemembered(call.guard);
    this.onDecision?.(call.guard, 'remembered');
    return guarding.mode === 'on' ? this.answers.absent(call, asked.filter) : observe(asked, 'maybe', denial);
  }

  private letThrough({ guard }: GuardedCall, asked: AskedCall, denial?: DenialAnswer): GuardDecision {
    asked.filter.guarding.noteMaybe(guard);
    this.onDecision?.(guard, 'maybe');
    return observe(asked, 'maybe', denial);
  }

  /**
   * Tries once more to record what is queued, and queues no more. To be called before the store closes.
   *
   * @internal
   */
  close(): Promise<void> {
    return this.registrar.close();
  }
}

/** The note of a call's id; undefined where it has none. */
function noteOf({ entry, self, args }: GuardedCall, { keys }: GuardableFilter): string | undefined {
  try {
    return keys.note(keys.of(entry.readId(self, args)));
  } catch {
    return undefined;
  }
}

/** Bytes belong to the caller, who may write others into them while the method runs. */
function lasting(id: unknown): unknown {
  return id instanceof Uint8Array ? new Uint8Array(id) : id;
}

/** Records the ids of rows that a library writes, for the application of this runner. */
export function registrarOf(runner: BloomGuardRunner): IdRegistrar {
  return runner.registrar;
}

/**
 * Calls `listener` at once with what each guarded call is decided by, until the returned function is called. It must not throw. What stands
 * in for a runner in a test decides nothing.
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
