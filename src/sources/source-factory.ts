import type { FactoryProvider, InjectionToken } from '@nestjs/common';
import type { BloomIdSource } from '../rebuild/index.js';

/** A source that is made from providers of any module, when all modules exist, before the first rebuild. */
export interface BloomSourceFactory {
  /** Tokens, or `{ token, optional }`, of providers that are no request-scoped ones. */
  readonly inject?: FactoryProvider['inject'];
  /** Makes the source of what `inject` names. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what is injected is the factory's own affair
  readonly useFactory: (...args: any[]) => BloomIdSource | Promise<BloomIdSource>;
}

/** What a function of a source is given after its table: a column, options, or both. */
export type ColumnAndOptions<Options> = readonly [column?: string | Options, options?: Options];

/** Both of them, whichever were given. */
export function columnAndOptions<Options extends object>([
  first,
  options,
]: ColumnAndOptions<Options>): readonly [column: string | undefined, options: Options] {
  return typeof first === 'object' ? [undefined, first] : [first, options ?? ({} as Options)];
}

/** A source of one provider of the application, or of an object that is here already. */
export function madeFrom<Provided>(
  provided: { readonly token: InjectionToken } | { readonly object: Provided },
  make: (provided: Provided) => BloomIdSource | Promise<BloomIdSource>,
): BloomSourceFactory {
  if ('object' in provided) return { useFactory: () => make(provided.object) };
  return { inject: [provided.token], useFactory: make };
}
