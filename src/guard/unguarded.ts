import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { BloomConfigError } from '../common/index.js';
import { cannotRegister, notConstructedByNest, standInForRunner } from './guard.messages.js';
import type { WrappedCall } from './method-wrapper.js';

const WARNED = Symbol('nestjs-bloom:warned');

/** The applications of this process that answer from filters. */
const running = new Set<object>();

/** To be called with something of an application, when its filters begin to answer lookups that are not those of a test. */
export function noteRunning(application: object): void {
  running.add(application);
}

/** To be called when it has been closed. */
export function noteClosed(application: object): void {
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
  new Logger('Bloom').warn(
    hasStandIn ? standInForRunner(method, owner.name) : notConstructedByNest(method, owner.name, filter),
  );
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
