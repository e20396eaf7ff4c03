import type { Redis } from 'ioredis';
import type { BloomEvent } from '../../src/common/index.js';
import type { CopyableFilter, LeaseServer, FeedEntry, FilterPart } from '../../src/store/index.js';
import type { RedisStoreOptions } from '../../src/store/redis/index.js';
import { eventually } from './eventually.js';
import { openOptions } from './open-options.js';
import type { RedisFixture } from './redis-fixture.js';

/** One process that reads with leases, whose copy is the test itself. */
export interface LeasedProcess {
  readonly filter: CopyableFilter;
  readonly leases: LeaseServer;
  readonly entries: FeedEntry[];
  readonly events: BloomEvent[];
  /** Joins: takes a lease for a copy that is to be loaded, and follows the feed from there on. */
  join(): Promise<{ list: string; number: number; tag: number }>;
  /** Waits until a staging is announced, and says that it is copied. */
  copyStaging(): Promise<void>;
  /** Acknowledges what was read so far. */
  acknowledge(): Promise<void>;
  close(): Promise<void>;
}

export async function openLeased(
  redis: RedisFixture,
  name: string,
  {
    leaseMs = 60_000,
    part,
    ...options
  }: Partial<RedisStoreOptions> & { leaseMs?: number | undefined; part?: FilterPart } = {},
): Promise<LeasedProcess> {
  const events: BloomEvent[] = [];
  const emit = (event: BloomEvent) => void events.push(event);
  const { store, close } = await redis.open(name, { emit, ...options }, { replica: 'off' });
  const filter = store.openCopyable({
    ...openOptions({ name, replica: 'leased', leaseMs, part }),
    onBlocks: () => {},
    emit,
  });
  const leases = filter.leases!;
  const entries: FeedEntry[] = [];
  let list = '';
  let joinedAt = 0;
  const applied = () => entries.at(-1)?.number ?? joinedAt;
  return {
    filter,
    leases,
    entries,
    events,
    async join() {
      const reply = await leases.take(undefined);
      if (reply.outcome !== 'granted') throw new Error(`Expected a lease, got ${JSON.stringify(reply)}.`);
      ({ list, number: joinedAt } = reply);
      entries.length = 0;
      leases.follow(reply.number, { onEntries: (read) => void entries.push(...read) });
      return reply;
    },
    async copyStaging() {
      await eventually('a staging is announced', async () => {
        const reply = await leases.take({ list, applied: applied() });
        if (reply.outcome !== 'granted' || reply.announced === undefined) return false;
        await leases.ready(reply.announced);
        return true;
      });
    },
    acknowledge: () => leases.acknowledge({ list, applied: entries.at(-1)?.number ?? 0 }),
    close: async () => {
      await filter.close();
      await close();
    },
  };
}

/** Whether a promise is still pending, as seen after the server has answered all that was sent before. */
export async function isPending(promise: Promise<unknown>, admin: Redis): Promise<boolean> {
  let isSettled = false;
  const settle = () => (isSettled = true);
  promise.then(settle, settle);
  for (let i = 0; i < 20; i++) await admin.ping();
  return !isSettled;
}
