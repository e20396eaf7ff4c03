import type { ServerResponse } from 'node:http';
import { NotFoundException, RequestMethod, type Type } from '@nestjs/common';
import { HOST_METADATA } from '@nestjs/common/constants.js';
import type { AbstractHttpAdapter, DiscoveryService } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { BloomConfigError } from '../common/index.js';
import type { BloomGuardRunner } from './bloom-guard-runner.js';
import { BloomInterceptor } from './bloom.interceptor.js';
import { cannotBeEarly } from './guard.messages.js';
import { type EarlyCall, type GuardAnswer, type GuardDeclaration, guardedCall } from './guarded-call.js';
import { declaredInterceptors, guardsOf, methodsOf, type RoutedGuard } from './interceptor-coverage.js';
import { isSkipped } from './skip-bloom.decorator.js';

/** A handler as Nest registers it. It carries the metadata of the method of the controller. */
type Handler = (request: object, response: unknown, next: unknown) => unknown;
type Adapter = Pick<AbstractHttpAdapter, 'reply' | 'getType' | 'getInstance'> & object;

/** What is used of Fastify. */
interface Fastify {
  addHook(name: 'onRoute', hook: (route: { onRequest?: FastifyHook | FastifyHook[] }) => void): void;
}
type FastifyHook = (request: object, reply: unknown, done: () => void) => void;

/** The route of a guard with `early`. */
interface EarlyRoute {
  readonly owner: Function;
  readonly handler: Function;
}

/**
 * Answers absent ids of guards with `early: true` where the router calls the route: after the middleware and
 * before all that Nest runs; on Fastify in the hook `onRequest` of the route. To be called before Nest
 * registers routes. Anything but an absent id goes on with its decision, which `BloomInterceptor` finds.
 *
 * @throws {BloomConfigError} for a route that is also chosen by its host or by a version outside the path:
 *   another route may have the id. Routes with such a version are refused when they are registered. Also for
 *   another answer by default than a 404.
 */
export function answerEarly(runner: BloomGuardRunner, discovery: DiscoveryService, adapter: Adapter): void {
  const routes = earlyRoutes(discovery);
  const [first] = routes.keys();
  if (!first) return;
  const { onAbsent = 'not-found' } = runner.answers.defaults;
  if (onAbsent !== 'not-found')
    throw new BloomConfigError(cannotBeEarly(first, 'another onAbsent of forRoot'));
  const isFastify = adapter.getType() === 'fastify';
  let hooked: EarlyHandler | undefined;
  if (isFastify)
    (adapter.getInstance() as Fastify).addHook('onRoute', (route) => {
      const early = hooked;
      if (early)
        route.onRequest = [route.onRequest ?? []]
          .flat()
          .concat((request, reply, done) => void early.run(request, reply, done));
    });
  let isFiltered = false;
  // Nest calls it before it registers the first route with such a version.
  replace(adapter, 'applyVersionFilter', (apply, args) => {
    isFiltered = true;
    return apply(...args);
  });
  for (const name of Object.values(RequestMethod)) {
    replace(adapter, String(name).toLowerCase(), (register, args) => {
      const handler = args.at(-1);
      const all = typeof handler === 'function' ? guardsOf(handler) : [];
      const guards = all.filter(({ guard }) => routes.has(guard));
      if (guards.length === 0) return register(...args);
      const { guard } = guards[0]!;
      if (isFiltered) throw new BloomConfigError(cannotBeEarly(guard, 'a version outside the path'));
      for (const { guard } of guards)
        for (const param of paramsOf(guard))
          if (!String(args[0]).match(/:\w+/g)?.includes(`:${param}`))
            throw new BloomConfigError(cannotBeEarly(guard, `no parameter ':${param}'`));
      const early = new EarlyHandler(runner, adapter, { guards, route: routes.get(guard)! });
      if (!isFastify) return register(...args.slice(0, -1), early.before(handler as Handler));
      hooked = early;
      const registered = register(...args);
      hooked = undefined;
      return registered;
    });
  }
}

function paramsOf({ options: { param, id = 'id', scope } }: GuardDeclaration): string[] {
  return [param ?? id, scope ?? []].flat().map(String);
}

type Called = (...args: unknown[]) => unknown;

function replace(adapter: Adapter, name: string, by: (original: Called, args: unknown[]) => unknown): void {
  const original: unknown = Reflect.get(adapter, name);
  if (typeof original !== 'function') return;
  Object.assign(adapter, {
    [name]: (...args: unknown[]) => by((...given) => original.apply(adapter, given), args),
  });
}

function earlyRoutes(discovery: DiscoveryService): Map<GuardDeclaration, EarlyRoute> {
  const routes = new Map<GuardDeclaration, EarlyRoute>();
  for (const { metatype: owner } of discovery.getControllers()) {
    if (typeof owner !== 'function') continue;
    for (const handler of methodsOf(owner)) {
      if (isSkipped(handler, owner)) continue;
      for (const { guard } of guardsOf(handler).filter(({ guard }) => guard.options.early)) {
        const other =
          otherChoice(handler, owner) ?? (routes.has(guard) && 'several controllers that inherit it');
        if (other) throw new BloomConfigError(cannotBeEarly(guard, other));
        routes.set(guard, { owner, handler });
      }
    }
  }
  return routes;
}

/** What decides on a route beside its path and its guards; undefined for nothing. */
function otherChoice(handler: Function, owner: Function): string | undefined {
  if (Reflect.getMetadata(HOST_METADATA, owner) !== undefined) return 'a host';
  const isOther = declaredInterceptors(handler, owner).some((item) => item !== BloomInterceptor);
  return isOther ? 'an interceptor that extends BloomInterceptor' : undefined;
}

/** Decides before the route runs. */
class EarlyHandler {
  private readonly guards: readonly RoutedGuard[];
  private readonly denied: GuardAnswer = { value: undefined, error: new NotFoundException() };
  private readonly reply: (response: unknown) => void;

  constructor(
    private readonly runner: BloomGuardRunner,
    adapter: Adapter,
    private readonly of: { readonly guards: readonly RoutedGuard[]; readonly route: EarlyRoute },
  ) {
    this.guards = of.guards.map((routed) => ({ ...routed, entry: { ...routed.entry, denied: this.denied } }));
    this.reply = notFoundBy(adapter);
  }

  /** A handler with the same metadata and properties, by which adapters find options of the route. */
  before(handler: Handler): Handler {
    const early: Handler = (request, response, next) =>
      this.run(request, response, () => handler(request, response, next));
    for (const key of Reflect.getMetadataKeys(handler))
      Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), early);
    Object.defineProperty(early, 'name', { value: handler.name, configurable: true });
    return Object.assign(early, handler);
  }

  run(request: object, response: unknown, goOn: () => unknown): unknown {
    const failed = (error: unknown) => {
      const { filter, method } = this.guards[0]!.guard;
      this.runner.service.emit({ type: 'guard-error', filter, method, operation: 'early', error });
      return false;
    };
    const answered = (isDenied: boolean) => {
      if (isDenied) this.reply(response);
      return isDenied;
    };
    try {
      const isDenied = this.isDenied(request, response);
      if (isDenied instanceof Promise)
        return isDenied
          .then(answered)
          .catch(failed)
          .then((isAnswered) => (isAnswered ? undefined : goOn()));
      if (answered(isDenied)) return undefined;
    } catch (error) {
      failed(error);
    }
    return goOn();
  }

  private isDenied(...args: [request: object, response: unknown]): boolean | Promise<boolean> {
    const { clients } = this.runner.service;
    if (!clients) return this.decide(args[0]);
    const { owner, handler } = this.of.route;
    const context = new ExecutionContextHost(args, owner as Type, handler);
    return clients.run(context, () => this.decide(args[0]));
  }

  private decide(request: object): boolean | Promise<boolean> {
    const asked: EarlyCall[] = [];
    for (const { guard, entry } of this.guards) {
      const call = guardedCall(guard, entry, undefined, [request]);
      const decided = this.runner.decide(call);
      if (decided === this.denied) return true;
      asked.push({ call, decided });
      // The interceptor throws what a function of the application has thrown, and asks the other guards.
      if (decided instanceof Promise) {
        this.runner.early.set(request, asked);
        return decided.then(
          (answer) => answer === this.denied,
          () => false,
        );
      }
    }
    this.runner.early.set(request, asked);
    return false;
  }
}

/** Answers as Nest does, but on Express without what `json` of its responses looks up each time. */
function notFoundBy(adapter: Adapter): (response: unknown) => void {
  const error = new NotFoundException();
  if (adapter.getType() !== 'express')
    return (response) => adapter.reply(response, error.getResponse(), error.getStatus());
  const body = JSON.stringify(error.getResponse());
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  };
  return (response) => (response as ServerResponse).writeHead(error.getStatus(), headers).end(body);
}
