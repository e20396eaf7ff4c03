/** How often a step starts over when the filter changed under it; a filter changes at most a few times a second. */
export const MAX_ATTEMPTS = 5;

/** What one command of a rebuild moves: Redis serves other clients in between. */
export const PIECE_BYTES = 256 * 1024;

/** Life of retired keys: they are removed long before, unless the process dies. */
export const RETIRED_LIFE_MS = 60_000;
