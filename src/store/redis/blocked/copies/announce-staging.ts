import type { BlockedContext } from '../blocked-context.js';
import { waitMs } from './copy-waits.js';

/** A reader that takes longer loads after the swap, while Redis answers for it. */
const LONGEST_MS = 30_000;
const ASK_EVERY_MS = 25;

/**
 * Has the readers of a filter copy a staging before it goes live, and waits until they have. Everything that its rebuild has read must be in it. What fails here is no
 * hindrance to the swap.
 */
export async function announceStaging(
  { copyScripts, keys, metadata, emit, name }: BlockedContext,
  { token, signal }: { readonly token: string; readonly signal: AbortSignal },
): Promise<void> {
  const until = performance.now() + LONGEST_MS;
  try {
    const { leasesMs } = await metadata.current();
    if (leasesMs === undefined) return;
    let waited = await copyScripts.announce(keys, token, true);
    while (waited > 0 && performance.now() < until && !signal.aborted) {
      await waitMs(ASK_EVERY_MS);
      waited = await copyScripts.announce(keys, token, false);
    }
  } catch (error) {
    emit({ type: 'store-error', filter: name, operation: 'announce the staging to readers', error });
  }
}
