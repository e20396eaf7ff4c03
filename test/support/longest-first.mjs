import TestSequencer from '@jest/test-sequencer';

/** Files that take long for their size; what of them is gone does no harm here. */
const LONG = [
  'packages/postgres/test/feed/postgres-feed-rules.spec.ts',
  'test/module/instances-outages.spec.ts',
  'packages/throttler/test/throttler.spec.ts',
  'sample-app/test/demo.spec.ts',
  'test/module/far-ahead.spec.ts',
  'test/module/top-up.spec.ts',
  'packages/postgres/test/feed/postgres-feed-table.spec.ts',
  'test/module/shared-mode.spec.ts',
  'test/store/local-copy/leased-redis.spec.ts',
  'packages/postgres/test/feed/postgres-feed.spec.ts',
  'test/module/instances.spec.ts',
  'test/store/redis/meta/many-processes.spec.ts',
  'packages/prisma/test/recorded-writes.spec.ts',
  'test/store/redis/lock/orphaned-lease.spec.ts',
  'test/store/redis/swap/first-build.spec.ts',
  'packages/interop/test/redis/bitmap/guava.spec.ts',
  'packages/interop/test/redis/bitmap/redisson.spec.ts',
  'packages/interop/test/redis/bitmap/go-zero.spec.ts',
  'test/store/redis/client/acl.spec.ts',
  'test/store/redis/blocked/lost-keys.spec.ts',
  'test/module/shared-schedule.spec.ts',
  'test/guard/coalesce.spec.ts',
  'test/store/redis/client/address-moves.spec.ts',
  'test/module/start-and-stop.spec.ts',
  'packages/interop/test/redis/bitmap/chaos.spec.ts',
  'test/rebuild/redis-traffic.spec.ts',
  'test/rebuild/redis-interference.spec.ts',
  'test/rebuild/redis-rebuild.spec.ts',
  'packages/interop/test/redis/bf/missing.spec.ts',
  'test/rebuild/redis-lost-steps.spec.ts',
  'test/store/local-copy/store.spec.ts',
  'test/store/redis/blocked/store.spec.ts',
  'test/store/memory/memory-store.spec.ts',
  'test/entry-files.spec.ts',
  'test/store/redis/staging/left-keys.spec.ts',
];

/**
 * Begins with files that take long, so that no worker has one left when the others have ended. On its own
 * Jest knows only how long a file took on this machine before, and takes the largest first elsewhere.
 */
export default class LongestFirst extends TestSequencer {
  async sort(tests) {
    const place = ({ path }) => {
      const found = LONG.findIndex((long) => path.endsWith(`/${long}`));
      return found < 0 ? LONG.length : found;
    };
    return (await super.sort(tests)).toSorted((one, other) => place(one) - place(other));
  }
}
