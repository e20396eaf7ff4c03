import type { BloomUnleasedCause } from '../index.js';
import * as because from './replica.messages.js';

const CAUSES: ReadonlyMap<string, BloomUnleasedCause> = new Map<string, BloomUnleasedCause>([
  [because.COPY_ABSENT, 'not-loaded'],
  [because.LOAD_FAILED, 'load-failed'],
  [because.LEASE_LAPSED, 'lapsed'],
  [because.STORE_SILENT, 'store-silent'],
  [because.NOT_LIVE, 'not-live'],
  [because.ANOTHER_GENERATION, 'other-generation'],
  [because.ENTRIES_LOST, 'feed-lost'],
  [because.OTHER_FEED, 'feed-lost'],
  [because.FEED_SILENT, 'feed-lost'],
  [because.STORE_WITHOUT_LEASES, 'no-leases'],
]);

/** The word for a sentence that says why a copy has no lease. A sentence that is not known here comes from the store, and is a refusal. */
export function causeOf(reason: string | undefined): BloomUnleasedCause | undefined {
  return reason === undefined ? undefined : (CAUSES.get(reason) ?? 'refused');
}
