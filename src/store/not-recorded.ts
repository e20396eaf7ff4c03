import { type BloomFilterState, BloomUnavailableError } from '../common/index.js';

/**
 * The error of an add to a filter without a source that is not ready: what is added now, no rebuild would ever find.
 *
 * @param key where the filter is, if that is not clear from its name.
 */
export function notRecorded(
  { name, key }: { readonly name: string; readonly key?: string },
  state: BloomFilterState,
): BloomUnavailableError {
  const place = key === undefined ? '' : ` on key '${key}'`;
  const cure =
    state === 'unbuilt'
      ? 'Make it with reset(), once, then add the id again.'
      : 'What it held is not known any more. Empty it with reset(), then add every id that it has to know.';
  return new BloomUnavailableError(
    `Filter '${name}'${place} is ${state} and has no source: the id was not recorded. ${cure}`,
  );
}
