import type { BloomId, BloomLayout, BloomNormalizeName } from '../filter/index.js';
import type { BloomFeed, BloomIdSource } from '../rebuild/index.js';
import type { BloomReplicaMode } from '../store/index.js';
import type { BloomTopUpOptions } from './freshness/top-up-options.js';
import type { NegativeCacheOptions } from './negative-cache.js';

/** One filter, as it is registered. */
export interface BloomFilterOptions {
  /** Letters, digits and `. _ -`. */
  readonly name: string;
  /**
   * Ids to hold at the error rate. A rebuild that finds more plans for more. Default with a source: its
   * `count()`, and 100,000 at least.
   */
  readonly capacity?: number;
  /** Share of absent ids that are let through: 0.01, 0.001, … Default 0.001. */
  readonly errorRate?: number;
  /**
   * Default `blocked`. Functions of `@nestjs-bloom/interop` make layouts of other systems, to share a filter
   * on their keys; `cuckoo()` can remove ids. `scaling()` of `@nestjs-bloom/interop/scaling` makes one that
   * grows, in place of a source, for an unknown number of ids. See docs/interop.md.
   */
  readonly layout?: 'blocked' | BloomLayout;
  /** Where all ids come from. Without it the filter knows only what was added; see `create`. */
  readonly source?: BloomIdSource;
  /**
   * What creates a filter without a source. `explicit` (default): one call of `reset()`; until then lookups
   * are `unknown` and `add` rejects. `first-start`: the first process that finds none, empty. After a Redis
   * that lost everything while no process ran, that filter answers "absent" for all earlier ids.
   */
  readonly create?: 'first-start' | 'explicit';
  /** Another `owner` than that of the module. */
  readonly owner?: string | false;
  /** When and how the filter is rebuilt. */
  readonly rebuild?: BloomRebuildSchedule;
  /**
   * Adds the ids of external writes: one process of all reads what is new, again and again. The source needs
   * `idsSince`. Default: with `coverage`, else the next rebuild finds them. See docs/outside-writers.md.
   */
  readonly topUp?: BloomTopUpOptions;
  /**
   * `ordered`: an id after all those that the filter is sure to know is `unknown`, so that no new row is
   * "absent", whoever writes it. `none`: the filter alone answers. Default: `ordered` where the source says
   * that ids are made in ascending order, else `none`. See docs/outside-writers.md.
   */
  readonly coverage?: 'ordered' | 'none';
  /**
   * Adds the ids of all committed rows: `postgresFeed()` of `@nestjs-bloom/postgres/feed`, or your own. The
   * filter needs a source. See docs/outside-writers.md.
   */
  readonly feed?: BloomFeed;
  /**
   * The one form of ids that are written in several ways, for lookups, adds and the source: a function, or
   * the name of one of this package. With another one the filter needs a new name, since instances of both
   * versions share what is stored. Default: what the source chooses by its column, if it can.
   */
  readonly normalize?: BloomNormalizeName | ((id: BloomId) => BloomId);
  /**
   * Each id belongs to a tenant: ids are those of `scopedId`, and decorators and sources have the option
   * `scope`. Not with `topUp`, `feed` and `coverage`. See docs/tenants.md. Default false.
   */
  readonly scoped?: boolean;
  /** An id of more bytes is refused by `add` and absent on a lookup. Default 1024. */
  readonly maxIdBytes?: number;
  /**
   * For Redis Cluster: divides the filter into parts with a hash slot, a lock and rebuilds of their own, to
   * spread it over the nodes. From 2 to 1,024; `true`: 16. Another number is another filter, and needs
   * another name. Layout `blocked` only. Default: one filter in one slot. See docs/cluster.md.
   */
  readonly partitions?: number | true;
  /**
   * With Redis: `verified` keeps a local copy, so that lookups of ids that exist need no round trip.
   * `covered`, for ids in order: it answers "absent" too, up to its mark, even while Redis is gone; `add`
   * refuses old ids that the filter lacks, so all processes set it. `leased`: it answers "absent" of any id,
   * and an `add` of any process waits until each such copy has its ids, `leaseMs` at most; not on a Redis
   * Cluster, and all processes that add set `replica: 'leased'` or `leaseMs`. Default: `verified` for a
   * filter of up to 64 MiB, else `off`.
   */
  readonly replica?: BloomReplicaMode;
  /**
   * How long a copy may answer "absent" without hearing from Redis, in milliseconds: the longest wait of an
   * `add` for a stopped process. From 100 to 30,000, the same in all processes; without `replica: 'leased'`:
   * others read with leases. Default 1,000 with `replica: 'leased'`.
   */
  readonly leaseMs?: number;
  /**
   * Largest filter that a rebuild may make, in bytes; a source with more ids fails it with `too-many-ids`.
   * Default: four times what `capacity` and `errorRate` take, at least 256 MiB.
   */
  readonly maxBytes?: number;
  /**
   * Lets a share of the absent answers (0 to 1) through to the method, and compares. A row that is found
   * takes the filter offline until it is rebuilt; a guard that is wrong again blocks nothing any more. The
   * first 20 absent answers of each guard in each process are compared. `false`: none. Default: with a source
   * one in 1,000, at most five a second in each process; else the first 20 alone.
   */
  readonly audit?:
    | {
        /** The share that is compared, 0 to 1. */
        readonly sampleRate: number;
      }
    | false;
  /** Observes and never blocks, for a roll-out; `filter.guarding.mode = 'on'` ends it. Default false. */
  readonly shadow?: boolean;
  /**
   * Remembers false positives that the database denied, for `lifeMs`: null, or the `NotFoundException`, of a
   * guarded method whose single argument is the id, on a shared object. It must mean that the id exists for
   * nobody. With Redis, `{ shared: true }` remembers for all processes, and each `add` ends it; `true`
   * remembers in this process, where an id added by another process may be "absent" for `lifeMs`. Default
   * false.
   */
  readonly negativeCache?: NegativeCacheOptions | boolean;
}

/** When a filter is rebuilt, and how. */
export interface BloomRebuildSchedule {
  /** A cron expression. Needs `@nestjs/schedule` and `cron`. Every instance may fire; one rebuilds. */
  readonly cron?: string;
  /** IANA time zone of `cron`. Default: that of the process. */
  readonly timeZone?: string;
  /** Instead of `cron`: a rebuild is started every so many milliseconds. */
  readonly everyMs?: number;
  /** At start-up: when the filter is not ready, always, or never. Default `if-missing`. */
  readonly onBoot?: 'if-missing' | 'always' | 'never';
  /**
   * Longest time from the call of `add` to its row being visible to the source, in milliseconds: the longest
   * transaction, plus the lag of a replica. More than `writeTimeoutMs`. Default 10,000.
   */
  readonly drainMs?: number;
  /**
   * A build with fewer ids than this share of the last one, or with none, is refused. Default 0.5; 0 accepts
   * any.
   */
  readonly minRatio?: number;
  /** How long the right to rebuild lasts without being renewed, in milliseconds. Default 30,000. */
  readonly leaseMs?: number;
  /**
   * A rebuild whose source gives nothing for so long fails, in milliseconds. Longer than its slowest query.
   * Default 300,000.
   */
  readonly stallMs?: number;
  /**
   * Memory of this process for the filter that a rebuild fills, in MiB. A larger one is filled in several
   * passes, each of which reads the whole source; layouts of others and filters in memory in one. Default
   * 512.
   */
  readonly memoryMiB?: number;
  /**
   * What a rebuild does with an id that cannot be added. `fail` (default) fails the rebuild, and the live
   * filter stays. `skip` leaves the id out, as if its row did not exist, with one event `ids-skipped` for
   * each build.
   */
  readonly onBadId?: 'fail' | 'skip';
}
