import { size } from '../../common/index.js';
import type { BloomUnleasedCause } from '../index.js';

/** Why a copy has no lease, as a word and as a sentence. */
export interface Unleased {
  readonly cause: BloomUnleasedCause;
  readonly reason: string;
}

export const COPY_ABSENT: Unleased = { cause: 'not-loaded', reason: 'The copy is not loaded.' };
export const LOAD_FAILED: Unleased = { cause: 'load-failed', reason: 'The copy could not be loaded.' };
export const LEASE_LAPSED: Unleased = { cause: 'lapsed', reason: 'The lease was not renewed in time.' };
export const STORE_SILENT: Unleased = {
  cause: 'store-silent',
  reason: 'Redis did not answer the request for a lease.',
};
export const NOT_LIVE: Unleased = { cause: 'not-live', reason: 'The filter is not ready.' };
export const ANOTHER_GENERATION: Unleased = {
  cause: 'other-generation',
  reason: 'A new build went live, and the copy is loaded again.',
};
export const ENTRIES_LOST: Unleased = {
  cause: 'feed-lost',
  reason: 'The copy has missed adds of others, and is loaded again.',
};
export const OTHER_FEED: Unleased = {
  cause: 'feed-lost',
  reason: 'Redis has lost track of this process (failover or flush). The copy is loaded again.',
};
export const FEED_SILENT: Unleased = { cause: 'feed-lost', reason: 'Adds of others do not arrive.' };
export const STORE_WITHOUT_LEASES: Unleased = { cause: 'no-leases', reason: 'This store has no leases.' };

export const noRoomForCopy = (bytes: number, maxBytes: number) =>
  `BLOOM_NO_ROOM_FOR_COPY: There is no room for a local copy of ${size(bytes)} beside those of the other filters (copies.maxBytes is ${size(maxBytes)}): lookups of ids ` +
  "that exist ask Redis. Raise copies.maxBytes, or set replica: 'off' where a copy is of least use.";

export const noLease = (reason: string) =>
  `BLOOM_NO_LEASE: replica: 'leased' answers "absent" from the copy of this process only with a lease, and there is none: ${reason} Until then Redis is asked, as with ` +
  "replica: 'verified'.";
