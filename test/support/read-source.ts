import type { BloomId } from '../../src/filter/index.js';
import type { BloomIdSource } from '../../src/rebuild/index.js';
import type { BloomSourceFactory } from '../../src/sources/index.js';

/** All ids of a source. */
export async function readAll(source: BloomIdSource): Promise<BloomId[]> {
  const ids: BloomId[] = [];
  for await (const page of source.ids({ signal: new AbortController().signal })) {
    if (Array.isArray(page)) ids.push(...(page as BloomId[]));
    else ids.push(page as BloomId);
  }
  return ids;
}

/** The source that a factory makes of an object that it was given itself. */
export async function madeBy(factory: BloomSourceFactory): Promise<BloomIdSource> {
  return factory.useFactory();
}
