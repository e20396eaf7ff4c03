import type { InjectionToken } from '@nestjs/common';
import type { BloomIdSource } from '../rebuild/index.js';
import type { BloomSourceFactory } from './source-factory.js';

/** A source that is made from one provider of the application, or at once from an object that is here already. */
export function madeFrom<Provided>(
  provided: { readonly token: InjectionToken } | { readonly object: Provided },
  make: (provided: Provided) => BloomIdSource | Promise<BloomIdSource>,
): BloomSourceFactory {
  if ('object' in provided) return { useFactory: () => make(provided.object) };
  return { inject: [provided.token], useFactory: make };
}
