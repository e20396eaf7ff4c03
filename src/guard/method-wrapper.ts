import 'reflect-metadata';
import { Inject, Logger } from '@nestjs/common';
import { PROPERTY_DEPS_METADATA } from '@nestjs/common/constants.js';
import { BloomConfigError, withHelp } from '../common/index.js';
import { BloomGuardRunner } from './bloom-guard-runner.js';
import type { MethodSite } from './call-context.js';
import { declareUse, type FilterUse } from './filter-name.js';
import {
  cannotRegister,
  notConstructedByNest,
  notOnMethod,
  onGenerator,
  standInForRunner,
} from './guard.messages.js';

/** Its text is what Nest prints when the runner cannot be injected. */
export const RUNNER = Symbol('BloomGuardRunner of BloomModule.forRoot(): import it in the root module');
const WARNED = Symbol('nestjs-bloom:warned');

/** An object with a decorated method. */
export interface Host {
  /** What Nest has injected: the runner, or what a test puts in its place. */
  readonly [RUNNER]?: BloomGuardRunner | { readonly mark?: undefined } | null;
}

/** What runs in place of a method. */
export type Wrapper = (this: Host | undefined, ...args: unknown[]) => Promise<unknown>;

export interface WrappedCall {
  readonly self: object | undefined;
  readonly args: unknown[];
  /** Undefined when Nest did not construct the instance, or something else was injected. */
  readonly runner: BloomGuardRunner | undefined;
  /** Whether something else was injected in place of the runner: by a test that mocks missing providers. */
  readonly hasStandIn: boolean;
  readonly method: Function;
}

export function wrappedCall(method: Function, self: Host | undefined, args: unknown[]): WrappedCall {
  const injected = self?.[RUNNER];
  const runner = BloomGuardRunner.isRunner(injected) ? injected : undefined;
  return { self, args, runner, hasStandIn: !runner && injected !== undefined && injected !== null, method };
}

/** Calls the method itself. */
export function proceed({ method, self, args }: WrappedCall): Promise<unknown> {
  return method.apply(self, args);
}

/**
 * Replaces the method by what `wrapperOf` makes of it, which keeps its name, length and metadata. Nest
 * injects the runner into every instance that it constructs, so that the wrapper finds the runner of its own
 * application.
 */
export function wrapMethod(
  { target, descriptor }: MethodSite,
  use: FilterUse,
  wrapperOf: (method: Function) => Wrapper,
): void {
  const method = descriptor?.value;
  if (typeof target === 'function' || typeof method !== 'function')
    throw new BloomConfigError(notOnMethod(use));
  // A generator runs only when its result is iterated: there is no promise that a guard could withhold.
  if (Object.prototype.toString.call(method).endsWith('GeneratorFunction]'))
    throw new BloomConfigError(onGenerator(use));
  const wrapper = Object.assign(wrapperOf(method), method);
  for (const property of ['name', 'length'])
    Object.defineProperty(wrapper, property, { value: method[property], configurable: true });
  for (const key of Reflect.getOwnMetadataKeys(method))
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, method), wrapper);
  descriptor.value = wrapper;
  injectRunner(target);
  declareUse(target, use);
}

/** Once for a class: subclasses inherit it, and Nest 11 would inject it again for each method. */
function injectRunner(target: object): void {
  const injected: { key: unknown }[] = Reflect.getMetadata(PROPERTY_DEPS_METADATA, target.constructor) ?? [];
  if (!injected.some(({ key }) => key === RUNNER)) Inject(BloomGuardRunner)(target, RUNNER);
}

/** The applications of this process that answer from filters. */
const running = new Set<object>();

/** Called with something of an application when its filters begin to answer, unless they are a test's. */
export function recordRunning(application: object): void {
  running.add(application);
}

/** Called when the application has been closed. */
export function recordClosed(application: object): void {
  running.delete(application);
}

interface Declared {
  readonly filter: string;
  readonly method: string;
}

/** Warns of an object without a runner, once for its class. */
export function warnUnguarded(owner: Function, { method, filter }: Declared, hasStandIn: boolean): void {
  if (Reflect.hasOwnMetadata(WARNED, owner)) return;
  Reflect.defineMetadata(WARNED, true, owner);
  const text = hasStandIn
    ? standInForRunner(method, owner.name)
    : notConstructedByNest(method, owner.name, filter);
  new Logger('Bloom').warn(withHelp(text));
}

/**
 * Warns of an object without a runner whose method creates rows.
 *
 * @throws {BloomConfigError} where an application of this process would answer "absent" for them.
 */
export function assertNeedsNoRecord(declared: Declared, { self, hasStandIn, method }: WrappedCall): void {
  if (!hasStandIn && running.size > 0)
    throw new BloomConfigError(cannotRegister(declared.method, declared.filter));
  warnUnguarded(self?.constructor ?? method, declared, hasStandIn);
}
