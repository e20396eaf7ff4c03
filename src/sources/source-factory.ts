import type { FactoryProvider } from '@nestjs/common';
import type { BloomIdSource } from '../rebuild/index.js';

/**
 * A source that is made from providers of the application, which may be in any of its modules. It is made when all modules have been
 * made, before the first rebuild.
 */
export interface BloomSourceFactory {
  /** Tokens, or `{ token, optional }`, of providers that are no request-scoped ones. */
  readonly inject?: FactoryProvider['inject'];
  // oxlint-disable-next-line typescript/no-explicit-any -- what is injected is the factory's own affair
  readonly useFactory: (...args: any[]) => BloomIdSource | Promise<BloomIdSource>;
}
