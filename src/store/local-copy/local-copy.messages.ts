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
  reason: 'The store did not answer the question for a lease.',
};
export const NOT_LIVE: Unleased = { cause: 'not-live', reason: 'No generation is live.' };
export const ANOTHER_GENERATION: Unleased = {
  cause: 'other-generation',
  reason: 'Another generation went live.',
};
export const ENTRIES_LOST: Unleased = {
  cause: 'feed-lost',
  reason: 'The feed of adds lacks entries that this copy has not applied.',
};
export const OTHER_FEED: Unleased = {
  cause: 'feed-lost',
  reason: 'The server has another list of readers.',
};
export const FEED_SILENT: Unleased = { cause: 'feed-lost', reason: 'Entries of the feed do not arrive.' };
export const STORE_WITHOUT_LEASES: Unleased = { cause: 'no-leases', reason: 'This store has no leases.' };

export const noRoomForCopy = (bytes: number, maxBytes: number) =>
  `BLOOM_NO_ROOM_FOR_COPY: There is no room for a local copy of ${bytes} bytes beside those of the other filters (copies.maxBytes is ${maxBytes}): lookups of ids ` +
  "that exist ask Redis. Raise copies.maxBytes, or set replica: 'off' where a copy is of least use.";

export const noLease = (reason: string) =>
  `BLOOM_NO_LEASE: replica: 'leased' answers "absent" from the copy of this process only with a lease, and there is none: ${reason} Until then Redis is asked, as with ` +
  "replica: 'verified'.";
