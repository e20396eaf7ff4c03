import type { FactoryProvider, InjectionToken } from '@nestjs/common';
import type { BloomIdSource } from '../rebuild/index.js';

/** A source that is made from providers of any module, when all modules exist, before the first rebuild. */
export interface BloomSourceFactory {
  /** Tokens, or `{ token, optional }`, of providers that are no request-scoped ones. */
  readonly inject?: FactoryProvider['inject'];
  // oxlint-disable-next-line typescript/no-explicit-any -- what is injected is the factory's own affair
  readonly useFactory: (...args: any[]) => BloomIdSource | Promise<BloomIdSource>;
}

/** A source of one provider of the application, or of an object that is here already. */
export function madeFrom<Provided>(
  provided: { readonly token: InjectionToken } | { readonly object: Provided },
  make: (provided: Provided) => BloomIdSource | Promise<BloomIdSource>,
): BloomSourceFactory {
  if ('object' in provided) return { useFactory: () => make(provided.object) };
  return { inject: [provided.token], useFactory: make };
}
