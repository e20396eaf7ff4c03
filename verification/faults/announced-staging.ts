import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { eventually } from '../../test/support/eventually.js';
import { FILTER } from './filter-kinds.js';
import { rebuild } from './rebuilds.js';
import type { ShopInstance } from './shop-instance.js';
import { COPY_LEASE_MS } from './timings.js';

/** The reader that never copies comes back so often in the length of its lease. */
const RENEWALS = 8;
const GIVE_UP_MS = 120_000;

export interface Announcement {
  readonly admin: Redis;
  readonly rebuilder: ShopInstance;
}

/**
 * Does something while a staging is announced: a reader that never says that it has copied it keeps the
 * rebuild from its swap until then.
 */
export async function whileAnnounced(
  { admin, rebuilder }: Announcement,
  strike: () => Promise<unknown>,
): Promise<void> {
  const held = new AbortController();
  const holding = holdUp(admin, `bloom:{${FILTER}}:readers`, held.signal);
  let isAnnounced = false;
  // One that joins the rebuild of a filter that was lost announces nothing.
  const rebuilding = (async () => {
    do await rebuild(rebuilder);
    while (!isAnnounced && !held.signal.aborted);
  })();
  try {
    await untilAnnounced(admin);
    isAnnounced = true;
    await strike();
  } finally {
    held.abort();
    await holding;
    await rebuilding;
  }
}

/** Resolves when a staging of a filter is announced. */
export async function untilAnnounced(admin: Redis): Promise<void> {
  const meta = `bloom:{${FILTER}}:meta`;
  const isAnnounced = async () => {
    const [token, announced] = await admin.hmget(meta, 'pending.token', 'pending.announced');
    return typeof token === 'string' && token === announced;
  };
  await eventually('the staging is announced', isAnnounced, GIVE_UP_MS);
}

/**
 * Keeps a reader on the list that nobody waits for but a rebuild: it acknowledges nothing, and has nothing to
 * acknowledge.
 */
async function holdUp(admin: Redis, readers: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await admin.zadd(readers, Date.now() + COPY_LEASE_MS, 'e:never-copies').catch(() => {});
    await delay(COPY_LEASE_MS / RENEWALS);
  }
  await admin.zrem(readers, 'e:never-copies').catch(() => {});
}
