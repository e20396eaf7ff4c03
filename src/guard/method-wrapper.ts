import 'reflect-metadata';
import { Inject } from '@nestjs/common';
import { PROPERTY_DEPS_METADATA } from '@nestjs/common/constants.js';
import { BloomConfigError } from '../common/index.js';
import { BloomGuardRunner } from './bloom-guard-runner.js';
import { declareUse, type FilterUse } from './filter-uses.js';
import type { MethodSite } from './method-site.js';
import { notOnMethod, onGenerator } from './guard.messages.js';

/** Its text is what Nest prints when the runner cannot be injected. */
const RUNNER = Symbol('BloomGuardRunner of BloomModule.forRoot(): import it in the root module');

interface Host {
  readonly [RUNNER]?: unknown;
}

/** What runs in place of a method: called with the instance, the arguments, and what Nest has injected there. */
export type Around = (self: object | undefined, args: unknown[], injected: unknown) => Promise<unknown>;

export interface WrappedCall {
  readonly self: object | undefined;
  readonly args: unknown[];
  /** Undefined when Nest did not construct the instance, or something else was injected. */
  readonly runner: BloomGuardRunner | undefined;
  /** Whether something else was injected in place of the runner: by a test that mocks missing providers. */
  readonly hasStandIn: boolean;
  readonly method: Function;
}

export function wrappedCall(
  method: Function,
  self: object | undefined,
  args: unknown[],
  injected: unknown,
): WrappedCall {
  const isRunner = BloomGuardRunner.isRunner(injected);
  const runner = isRunner ? injected : undefined;
  return { self, args, runner, hasStandIn: !isRunner && injected !== undefined && injected !== null, method };
}

/** Calls the method itself. */
export function proceed({ method, self, args }: WrappedCall): Promise<unknown> {
  return method.apply(self, args);
}

/**
 * Replaces the method by what `around` makes of it; the wrapper keeps `this`, name, length and metadata. Nest injects the runner into every instance that
 * it constructs, so that the wrapper finds the runner of its own application.
 */
export function wrapMethod(
  options: MethodSite & { readonly use: FilterUse; readonly around: (method: Function) => Around },
): void {
  const { target, descriptor, use } = options;
  const method = descriptor?.value;
  if (typeof target === 'function' || typeof method !== 'function') {
    throw new BloomConfigError(notOnMethod(use));
  }
  assertNoGenerator(method, use);
  const around = options.around(method);
  const wrapper = function (this: Host | undefined, ...args: unknown[]) {
    return around(this, args, this?.[RUNNER]);
  };
  Object.assign(wrapper, method);
  for (const property of ['name', 'length']) {
    Object.defineProperty(wrapper, property, { value: method[property], configurable: true });
  }
  for (const key of Reflect.getOwnMetadataKeys(method)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, method), wrapper);
  }
  descriptor.value = wrapper;
  injectRunner(target);
  declareUse(target, use);
}

/** A generator runs only when its result is iterated: there is no promise that a guard could withhold, and no end that it could wait for. */
function assertNoGenerator(method: object, use: FilterUse): void {
  if (!Object.prototype.toString.call(method).endsWith('GeneratorFunction]')) return;
  throw new BloomConfigError(onGenerator(use));
}

/** Once for a class: subclasses inherit it, and Nest 11 would inject it again for each method. */
function injectRunner(target: object): void {
  const injected: { key: unknown }[] = Reflect.getMetadata(PROPERTY_DEPS_METADATA, target.constructor) ?? [];
  if (injected.some(({ key }) => key === RUNNER)) return;
  Inject(BloomGuardRunner)(target, RUNNER);
}
