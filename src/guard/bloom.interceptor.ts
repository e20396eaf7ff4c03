import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { isObservable, Observable, of, type Subscriber } from 'rxjs';
import type { BloomId } from '../filter/index.js';
import { BloomGuardRunner } from './bloom-guard-runner.js';
import { contextOf, isNullableField } from './call-context.js';
import { answerAbsentUnused, NO_ID_OF } from './guard.messages.js';
import type { BloomGuardedOptions } from './guard-options.js';
import {
  answeredValue,
  type EarlyCall,
  type EntryPoint,
  type GuardAnswer,
  type GuardDeclaration,
  guardedCall,
  type GuardedCall,
  type HttpRequest,
  type IdReader,
  ReaderMistake,
  requestEntry,
  syncAnswer,
} from './guarded-call.js';
import {
  checked,
  CHECKS,
  declaresInterceptor,
  guardsOf,
  hasOtherEntries,
  type RoutedGuard,
} from './interceptor-coverage.js';
import { isSkipped } from './skip-bloom.decorator.js';

/**
 * Checks routes with `@BloomGuarded` before other interceptors (a `CacheInterceptor`) or pipes run. Put it
 * first, with `@UseInterceptors` on the route or the controller. The id is the route parameter `id`, or what
 * the option `param` says, as text of the URL: where a pipe turns two texts into one id (`01` and `1`), use
 * `normalize` of the filter. The id of a message is where it would be without the interceptor. Called past
 * Nest's router, such a method is not guarded. Registered globally, the interceptor does nothing.
 *
 * A subclass may override `idOf`, where the id of a request or message is, `answerAbsent`, what it is
 * answered with, and `filterOf`, the filter of handlers without a decorator. With `idOf` it also checks
 * guarded handlers where it is bound globally, and messages.
 *
 * @example
 * ```ts
 * @Get(':sku')
 * @UseInterceptors(BloomInterceptor, CacheInterceptor)
 * @BloomGuarded('products', { param: 'sku' })
 * async findOne(@Param('sku') sku: string): Promise<Product> { … }
 * ```
 */
@Injectable()
export class BloomInterceptor implements NestInterceptor {
  /** @internal */
  static readonly [CHECKS] = true;
  /** Which methods a subclass has overridden; known from the first call on. */
  private ownHooks: Readonly<Record<'filterOf' | 'idOf' | 'answerAbsent' | 'any', boolean>> | undefined;
  /** Calls that a hook is asked about. */
  private readonly hooked = new WeakMap<ExecutionContext, GuardedCall>();
  private readonly advised = new Set<string>();
  /** Handlers on their last class. Metadata are looked up once: that takes longer than a check. */
  private readonly routes = new WeakMap<Function, RouteMetadata>();

  constructor(@Inject(BloomGuardRunner) private readonly runner: BloomGuardRunner) {
    if (this.hooks.filterOf && BloomGuardRunner.isRunner(runner)) runner.hasRoutesOfInterceptors = true;
  }

  intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    if (!BloomGuardRunner.isRunner(this.runner)) return Promise.resolve(next.handle());
    return this.asRequest(context, () => this.check(context, next));
  }

  private asRequest<Result>(context: ExecutionContext, run: () => Result): Result {
    const { clients } = this.runner.service;
    return clients ? clients.run(context, run) : run();
  }

  private async check(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const handler = context.getHandler();
    const route = this.routeOf(handler, context.getClass());
    const checks = this.checksOf(context, handler, route);
    if (checks.length === 0) return next.handle();
    const args = argumentsOf(context);
    const calls: GuardedCall[] = [];
    for (const { guard, entry } of checks) {
      const early = this.earlyCall(guard, args[0] as object);
      const call = early?.call ?? guardedCall(guard, entry, undefined, args);
      if (this.hooks.any) this.hooked.set(context, call);
      const decided = early ? early.decided : this.runner.decide(call);
      const answer = decided instanceof Promise ? await decided : decided;
      if (answer) return streamOf(answer);
      if (call.verdict || call.isPlaceDue) calls.push(call);
    }
    const isMixed = route.hasOtherEntries || checks.some(({ coverage }) => coverage?.isTakenOver);
    const handle = () => (isMixed ? checked.run(handler, () => next.handle()) : next.handle());
    const { lessons } = this.runner;
    if (!calls.some(({ isPlaceDue }) => isPlaceDue)) return lessons.fromStream(handle(), calls);
    // Whoever leaves before takes no place: so there has to be a subscriber.
    return new Observable((subscriber) => {
      const enter = () => this.enter(calls, handle, subscriber);
      void this.asRequest(context, enter);
    });
  }

  /** The call that was decided on before the route. */
  private earlyCall(guard: GuardDeclaration, request: object): EarlyCall | undefined {
    if (!guard.options.early || this.hooks.any) return undefined;
    return this.runner.early.get(request)?.find(({ call }) => call.guard === guard);
  }

  /** Takes the places of calls that the filters cannot judge, and runs the route within them. */
  private async enter(
    calls: readonly GuardedCall[],
    handle: () => Observable<unknown>,
    subscriber: Subscriber<unknown>,
  ): Promise<void> {
    const { lessons } = this.runner;
    try {
      for (const call of calls.filter(({ isPlaceDue }) => isPlaceDue)) {
        // Another guard of the route would wait for the place that the first one holds.
        const refusal = await withinPlace(calls, () => this.runner.answers.takePlace(call));
        if (refusal || subscriber.closed) lessons.giveUp(calls);
        if (subscriber.closed) return;
        if (refusal) return void streamOf(refusal).subscribe(subscriber);
      }
      lessons.fromStream(withinPlace(calls, handle), calls).subscribe(subscriber);
    } catch (error) {
      lessons.giveUp(calls);
      subscriber.error(error);
    }
  }

  /**
   * The filter that guards a handler which declares no guard: for a subclass that is bound globally or to a
   * controller. Default: undefined, for none. The id is what `idOf` gives; where that is undefined or null
   * the call is left alone.
   */
  protected filterOf(_context: ExecutionContext): string | undefined {
    return undefined;
  }

  /**
   * The id that a call asks for. Overridden, it is asked of requests and messages alike, wherever the
   * interceptor is bound. Default: what the guard of a route names by `param` or `id`, else the route
   * parameter `id`; the id of a message is read by the guarded method itself.
   *
   * @throws {BloomIdError} for a value that no row has as its id; any other error counts as a mistake of the
   *   function: see `onThrow`.
   */
  protected idOf(context: ExecutionContext): BloomId | null | undefined {
    const call = this.hooked.get(context);
    if (context.getType() !== 'http' || !call) throw new ReaderMistake(NO_ID_OF);
    const { options } = call.guard;
    if (options === UNDECLARED) return (call.args[0] as HttpRequest).params['id'] as BloomId;
    return requestEntry(options).readId(undefined, call.args) as BloomId;
  }

  /** Answers an absent id: a value, a promise or an Observable of it, or a throw. Default: `onAbsent`. */
  protected answerAbsent(context: ExecutionContext): unknown {
    const call = this.hooked.get(context);
    return call && this.runner.answerAbsent({ ...call, entry: { ...call.entry, absent: undefined } });
  }

  private get hooks() {
    if (this.ownHooks) return this.ownHooks;
    const base = BloomInterceptor.prototype;
    const filterOf = this.filterOf !== base.filterOf;
    const idOf = this.idOf !== base.idOf;
    const answerAbsent = this.answerAbsent !== base.answerAbsent;
    return (this.ownHooks = { filterOf, idOf, answerAbsent, any: filterOf || idOf || answerAbsent });
  }

  private routeOf(handler: Function, owner: Function): RouteMetadata {
    const known = this.routes.get(handler);
    if (known?.owner === owner) return known;
    const route = {
      owner,
      isSkipped: isSkipped(handler, owner),
      guards: guardsOf(handler),
      isDeclared: declaresInterceptor(handler, owner, this),
      hasOtherEntries: hasOtherEntries(handler),
    };
    this.routes.set(handler, route);
    return route;
  }

  /** The checks that this interceptor has to make of a call. */
  private checksOf(
    context: ExecutionContext,
    handler: Function,
    { owner, isSkipped, guards, isDeclared }: RouteMetadata,
  ): readonly RoutedGuard[] {
    const { hooks } = this;
    if ((guards.length === 0 && !hooks.filterOf) || isSkipped) return [];
    const isHttp = context.getType() === 'http';
    if (guards.length === 0) return this.undeclaredCheck(context, handler);
    if (!(isHttp && isDeclared) && !hooks.idOf) {
      // Where another one is declared, that one checks.
      if (hooks.answerAbsent && !(isHttp && declaresInterceptor(handler, owner)))
        this.advise(guards[0]!.guard);
      return [];
    }
    if (!this.runner.meetsFirst(callOf(context), handler)) return [];
    if (!hooks.any) return guards;
    return guards.map(({ guard, entry, coverage }) => {
      coverage?.takeOver();
      return { guard, coverage, entry: this.hookedEntry(context, entry) };
    });
  }

  /** The check of a handler without a guard, where `filterOf` names a filter and `idOf` gives an id. */
  private undeclaredCheck(context: ExecutionContext, handler: Function): readonly RoutedGuard[] {
    if (!this.runner.meetsFirst(callOf(context), this)) return [];
    const method = `${context.getClass().name}.${handler.name}`;
    const { service } = this.runner;
    let filter: string | undefined;
    try {
      filter = this.filterOf(context);
    } catch (error) {
      service.emit({ type: 'filter-missing', filter: `filterOf of ${this.constructor.name}`, method, error });
    }
    if (filter === undefined) return [];
    const guard = { filter, method, options: UNDECLARED, counted: { last: undefined }, number: undefined };
    const entry = this.hookedEntry(context, UNDECLARED_ENTRY);
    this.hooked.set(context, guardedCall(guard, entry, undefined, argumentsOf(context)));
    let readId: IdReader;
    try {
      const id = this.idOf(context);
      if (id === undefined || id === null) return [];
      readId = () => syncAnswer('idOf', id);
    } catch (error) {
      readId = () => {
        throw error;
      };
    }
    return [{ guard, entry: { ...entry, readId }, coverage: undefined }];
  }

  private hookedEntry(context: ExecutionContext, { readId, readBy }: EntryPoint): EntryPoint {
    const { hooks } = this;
    const handler = context.getHandler();
    const site = { target: context.getClass().prototype as object, key: handler.name, descriptor: {} };
    return {
      readId: hooks.idOf ? () => syncAnswer('idOf', this.idOf(context)) : readId,
      readBy: hooks.idOf ? `idOf of ${this.constructor.name}` : readBy,
      context: () => (context.getType() === 'http' ? 'http' : contextOf(handler)),
      isNullable: (args) => isNullableField(site, args),
      absent: hooks.answerAbsent ? () => this.answerAbsent(context) : undefined,
    };
  }

  private advise({ filter, method }: GuardDeclaration): void {
    const { emit } = this.runner.service;
    const key = `${filter} ${method}`;
    if (this.advised.has(key)) return;
    this.advised.add(key);
    emit({ type: 'advice', filter, text: answerAbsentUnused(method, this.constructor.name) });
  }
}

/** @throws the error of the answer. */
function streamOf(answer: GuardAnswer): Observable<unknown> {
  const value = answeredValue(answer);
  return isObservable(value) ? value : of(value);
}

/** Runs something as a part of the call that holds a place in a budget, if one of them does. */
function withinPlace<Result>(calls: readonly GuardedCall[], run: () => Result): Result {
  const holder = calls.find(({ unjudged }) => unjudged?.isCounted);
  return holder ? holder.filter!.guarding.budget!.run(holder.unjudged!, run) : run();
}

/** One object for all interceptors of a call. */
function callOf(context: ExecutionContext): object {
  return context.getType() === 'http' ? context.switchToHttp().getRequest() : context.getArgs<unknown[]>();
}

/** What a guard gets as arguments: the request, or what Nest calls the handler of a message with. */
function argumentsOf(context: ExecutionContext): readonly unknown[] {
  return context.getType() === 'http' ? [callOf(context)] : context.getArgs<unknown[]>();
}

interface RouteMetadata {
  readonly owner: Function;
  readonly isSkipped: boolean;
  readonly guards: readonly RoutedGuard[];
  /** Whether this interceptor is declared on the handler or its class. */
  readonly isDeclared: boolean;
  /** Whether Nest also calls it for messages, events or jobs. */
  readonly hasOtherEntries: boolean;
}

/** The options of a guard that no decorator declares. */
const UNDECLARED: BloomGuardedOptions = {};
const UNDECLARED_ENTRY = requestEntry(UNDECLARED);
