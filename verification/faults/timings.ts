/** Times of the shop under test: short, and in the proportions that the promise asks for. */

/** Longest time from an acknowledged add to its row being visible. */
export const COMMIT_MS = 30;
/** An add that took longer is rejected. */
export const WRITE_TIMEOUT_MS = 250;
/** Longer than any add that was not rejected, from its start to its visible row. */
export const DRAIN_MS = 300;
export const LEASE_MS = 500;
/** Length of leases, where copies are read with them. */
export const COPY_LEASE_MS = 400;
/** Length of leases where adds are timed: so long that what an add takes beyond a lease is no second one. */
export const TIMED_LEASE_MS = 2000;
/** How long the source takes to read the table. */
export const SCAN_MS = 50;
/** Deadline of the lookups of most instances: the default of the library. */
export const TIMEOUT_MS = 25;
/** And of one that waits, so that verdicts are given, and judged, on a slow server too. */
export const PATIENT_TIMEOUT_MS = 1000;
/** Adds of this time are acknowledged by a server, and never reach the one that takes its place. */
export const LAG_MS = 300;
