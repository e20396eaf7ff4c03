import { createHash } from 'node:crypto';
import type { DiscoveryService } from '@nestjs/core';
import { usesOf, usesOfAll } from './filter-name.js';
import type { CallLessons } from './call-lessons.js';
import type { GuardAnswers } from './guard-answers.js';
import { wrongCoalesceKey } from './guard.messages.js';
import { answeredValue, beginLoad, type DenialKey, type GuardedCall, syncAnswer } from './guarded-call.js';

/** Characters of a spelling that takes part in a scope; calls with longer ones are not remembered. */
const MAX_SPELLING = 256;
/** Characters of a key by which calls are shared; calls with longer ones run alone. */
const MAX_KEY = 1024;
/** Running calls of one method on one object that are kept to be joined; further ones run alone. */
const MAX_RUNNING = 10_000;

/**
 * Decides which calls the negative cache may take part in. What the database denied to one caller is an
 * answer for another one only if nothing but the id can have decided it: the id is the only argument, and all
 * callers share the object. So a call with a user beside the id is not remembered, nor one on a
 * request-scoped, transient or durable object, nor a request that `BloomInterceptor` checks.
 */
export class DenialScopes {
  private readonly objects = new WeakMap<object, { readonly name: string; readonly isOnly: boolean }>();

  /** @param objects those of which the application has one, which every caller shares. */
  learn(objects: ReadonlySet<object>): void {
    const byName = new Map<string, object[]>();
    for (const object of objects) {
      if (hasNamesakes(object)) continue;
      const name = nameOfClass(object);
      byName.set(name, [...(byName.get(name) ?? []), object]);
    }
    for (const [name, namesakes] of byName) {
      const isOnly = namesakes.length === 1;
      for (const [i, object] of namesakes.entries())
        this.objects.set(object, { name: isOnly ? name : `${name}#${i}`, isOnly });
    }
  }

  /**
   * Undefined for a call that is neither remembered nor answered from what is remembered.
   *
   * @param isForAll whether other processes know what is remembered.
   */
  keyOf({ self, args, guard, id, note }: GuardedCall, isForAll: boolean): DenialKey | undefined {
    // Bytes are left out: their owner may change them while the method runs.
    const isText = typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint';
    if (!isText || note === undefined || args.length !== 1 || !Object.is(args[0], id)) return undefined;
    const object = typeof self === 'object' && self !== null ? this.objects.get(self) : undefined;
    // Other processes know an object by the name of its class alone.
    if (!object || (isForAll && !object.isOnly)) return undefined;
    const spelling = id === note ? '' : String(id);
    if (spelling.length > MAX_SPELLING) return undefined;
    // The method may find a row by one spelling and nothing by another.
    return { text: note, scope: `${object.name}\0${guard.method}\0${typeof id}\0${spelling}` };
  }
}

/** The objects with guarded methods that all callers share: no request-scoped, durable or transient ones. */
export function findSingletons(discovery: DiscoveryService): Set<object> {
  const found = new Set<object>();
  for (const wrapper of [...discovery.getProviders(), ...discovery.getControllers()]) {
    if (wrapper.isTransient || !wrapper.isDependencyTreeStatic()) continue;
    const instance: unknown = wrapper.instance;
    if (typeof instance !== 'object' || instance === null) continue;
    if (!usesOfAll(Object.getPrototypeOf(instance)).next().done) found.add(instance);
  }
  return found;
}

/**
 * The name of an object's class, with a digest of the code of that class and of those that it extends. In a
 * bundle whose names are shortened, a class of another process may have the same name and the same methods.
 */
function nameOfClass(object: object): string {
  const hash = createHash('sha256');
  let name: string | undefined;
  let at = Object.getPrototypeOf(object);
  for (; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    const { constructor } = at as { constructor: unknown };
    if (typeof constructor !== 'function') continue;
    name ??= constructor.name;
    hash.update(String(constructor));
  }
  return `${name ?? ''}@${hash.digest('base64url').slice(0, 16)}`;
}

/** Whether two guards of an object have one name, as those of a class and a parent of its name have. */
function hasNamesakes(object: object): boolean {
  const seen = new Set<string>();
  for (let at = Object.getPrototypeOf(object); at; at = Object.getPrototypeOf(at)) {
    for (const { decorator, filter, method } of usesOf(at)) {
      if (decorator !== 'BloomGuarded') continue;
      const guard = `${filter.text} ${method}`;
      if (seen.has(guard)) return true;
      seen.add(guard);
    }
  }
  return false;
}

/**
 * What a call may be shared by beside its id; undefined for a call that runs alone.
 *
 * @throws what the function of the application throws, and a TypeError when it returns no text.
 */
function sharedKey({ guard, self, args }: GuardedCall): string | undefined {
  const { coalesce } = guard.options;
  if (!coalesce) return undefined;
  const answer: unknown = syncAnswer('coalesce.key', coalesce.key.apply(self, [...args]));
  if (answer !== undefined && typeof answer !== 'string')
    throw new TypeError(wrongCoalesceKey(typeof answer));
  return answer === undefined || answer.length > MAX_KEY ? undefined : answer;
}

interface RunningCall {
  readonly startedAt: number;
  readonly result: Promise<unknown>;
}

/** Lets calls of one method on one object share one run while it lasts, where their keys are equal. */
export class SharedCalls {
  /** By object, and by the declaration on the method: its name may be that of another class as well. */
  private readonly running = new WeakMap<object, Map<object, Map<string, RunningCall>>>();

  constructor(
    private readonly lessons: CallLessons,
    private readonly answers: GuardAnswers,
  ) {}

  /**
   * Runs the method, or joins a running call for the same id and key, unless that one may have missed an id
   * which was added lately. Whoever joins takes no place in the budget of the filter.
   *
   * @throws {BloomOverloadError} where there is no room for the method.
   */
  async run(call: GuardedCall, proceed: () => Promise<unknown>): Promise<unknown> {
    const { guard, filter, note } = call;
    // Adds are recorded from the first read of them on: before a method runs that others may join.
    const adds = filter?.guarding.recentAdds;
    const isAlone = !adds || note === undefined;
    const key = isAlone ? undefined : this.lessons.callback(guard, 'coalesce.key', () => sharedKey(call));
    const text = key === undefined ? undefined : `${note!.length} ${note}${key}`;
    const isTooOld = (startedAt: number) => adds!.mayMiss(note!, startedAt);
    const join = () => (text === undefined ? undefined : this.join(call, text, isTooOld));
    const begin = () => {
      beginLoad(call);
      return text === undefined ? proceed() : this.begin(call, text, proceed);
    };
    const joined = join();
    if (joined) return joined;
    if (!call.isPlaceDue) return begin();
    const refusal = await this.answers.takePlace(call);
    if (refusal) return answeredValue(refusal);
    // Another one may have begun meanwhile.
    const late = join();
    if (!late) return begin();
    this.lessons.giveUp([call]);
    call.unjudged = undefined;
    return late;
  }

  /**
   * The result of the call that runs; undefined where there is none.
   *
   * @param isTooOld whether a call that began then may have missed what this one must find.
   */
  private join(
    call: GuardedCall,
    key: string,
    isTooOld: (startedAt: number) => boolean,
  ): Promise<unknown> | undefined {
    const same = this.callsOf(call.self as object, call.guard).get(key);
    if (!same || isTooOld(same.startedAt)) return undefined;
    call.isJoined = true;
    return same.result;
  }

  /** Runs a call that others may join. */
  private begin(call: GuardedCall, key: string, proceed: () => Promise<unknown>): Promise<unknown> {
    const calls = this.callsOf(call.self as object, call.guard);
    if (!calls.has(key) && calls.size >= MAX_RUNNING) return proceed();
    const startedAt = performance.now();
    const result = proceed().finally(() => {
      if (calls.get(key) === mine) calls.delete(key);
    });
    const mine = { startedAt, result };
    calls.set(key, mine);
    return result;
  }

  private callsOf(self: object, guard: object): Map<string, RunningCall> {
    let guards = this.running.get(self);
    if (!guards) this.running.set(self, (guards = new Map()));
    let calls = guards.get(guard);
    if (!calls) guards.set(guard, (calls = new Map()));
    return calls;
  }
}
