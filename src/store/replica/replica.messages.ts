export const noRoomForCopy = (bytes: number, maxBytes: number) =>
  `There is no room for a local copy of ${bytes} bytes beside those of the other filters (copies.maxBytes is ${maxBytes}): lookups of ids ` +
  "that exist ask Redis. Raise copies.maxBytes, or set replica: 'off' where a copy is of least use.";

export const noLease = (reason: string) =>
  `replica: 'leased' answers "absent" from the copy of this process only with a lease, and there is none: ${reason} Until then Redis is asked, as with ` +
  "replica: 'verified'.";

// Why a copy has no lease.
export const COPY_ABSENT = 'The copy is not loaded.';
export const LOAD_FAILED = 'The copy could not be loaded.';
export const LEASE_LAPSED = 'The lease was not renewed in time.';
export const STORE_SILENT = 'The store did not answer the question for a lease.';
export const NOT_LIVE = 'No generation is live.';
export const ANOTHER_GENERATION = 'Another generation went live.';
export const ENTRIES_LOST = 'The feed of adds lacks entries that this copy has not applied.';
export const OTHER_FEED = 'The server has another list of readers.';
export const FEED_SILENT = 'Entries of the feed do not arrive.';
export const STORE_WITHOUT_LEASES = 'This store has no leases.';
