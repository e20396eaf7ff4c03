import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import type { Fault, Judgement } from './fault.js';
import { GOODS, ORDERS, OVERLAP_MS, SLOT } from './outside-shop.js';
import { END_OF_FEED, OutsideSite } from './outside-site.js';
import { ReplicatedSite, type RedisSite, ServerSite } from './redis-site.js';

const WRITE_MS = 1500;
const OUTAGE_MS = 1000;
/** A connection that leads nowhere has to be noticed within this time, on a busy machine. */
const BLACK_HOLE_MS = 90_000;
/** Rows that the publication lacks. */
const UNPUBLISHED = 100;
/** Less than one file of the log. */
const SMALL_LOG = ['max_slot_wal_keep_size=1MB', 'checkpoint_timeout=30min'];

interface OutsideFault<Site extends RedisSite> {
  readonly name: string;
  readonly start: () => Promise<Site>;
  readonly settings?: readonly string[];
  readonly quick?: boolean;
  /** Whether another process follows from the start. */
  readonly hasFollower?: boolean;
  readonly strike: (site: OutsideSite<Site>) => Promise<void>;
}

/**
 * Rows are written by SQL alone while something fails: with coverage none is ever absent, and a feed brings
 * all of them in the end.
 */
function outside<Site extends RedisSite>({
  name,
  quick = false,
  start,
  settings,
  strike,
  hasFollower = false,
}: OutsideFault<Site>): Fault {
  const run = () =>
    judge(
      name,
      async () => {
        const site = await OutsideSite.start(start, settings);
        if (hasFollower) await site.startFollower();
        return site;
      },
      strike,
    );
  return { name, group: 'outside', quick, alone: false, isBeyond: false, run };
}

/** Rows that are written and looked up, and where something fails. */
export interface WrittenSite {
  readonly lookups: number;
  readonly writes: number;
  /** What was answered "absent" and must not be. */
  readonly wrong: readonly string[];
  open(): Promise<void>;
  untilAllKnown(): Promise<void>;
  lastEvents(): readonly string[];
  stop(): Promise<void>;
}

export async function judge<Site extends WrittenSite>(
  fault: string,
  start: () => Promise<Site>,
  strike: (site: Site) => Promise<void>,
): Promise<Judgement> {
  const site = await start();
  try {
    await site.open();
    await delay(WRITE_MS);
    await strike(site);
    const overAt = performance.now();
    await delay(WRITE_MS);
    const failure = await site.untilAllKnown().then(
      () => undefined,
      (error: unknown) => String(error),
    );
    const { lookups, writes, wrong } = site;
    return {
      fault,
      lookups,
      adds: writes,
      rejectedAdds: 0,
      wrongAbsent: wrong.length,
      callerErrors: 0,
      protectedAgainMs: failure === undefined ? Math.round(performance.now() - overAt) : null,
      isForGood: false,
      remarks: [
        ...(wrong.length > 0 ? [`wrongly absent: ${[...new Set(wrong)].slice(0, 5).join(', ')}`] : []),
        ...(failure === undefined ? [] : site.lastEvents()),
      ],
      ...(failure !== undefined && { failure }),
    };
  } finally {
    await site.stop();
  }
}

const server = () => ServerSite.start();

export const outsideFaults: readonly Fault[] = [
  outside({
    name: 'the process that follows killed (SIGKILL)',
    quick: true,
    start: server,
    hasFollower: true,
    strike: async ({ follower, shops }) => {
      follower!.kill('SIGKILL');
      await eventually('another one follows', async () => {
        const infos = await Promise.all(
          shops.map((shop) =>
            shop
              .filter(ORDERS)
              .info()
              .catch(() => undefined),
          ),
        );
        return infos.some((info) => info?.outside?.isFollowing);
      });
    },
  }),
  outside({
    name: 'Redis restarted empty',
    start: server,
    strike: async ({ redis }) => {
      await redis.server.kill();
      await delay(OUTAGE_MS);
      await redis.server.restart();
    },
  }),
  outside({
    name: 'Redis restarted from an older snapshot',
    start: server,
    strike: async ({ redis }) => {
      await redis.admin.save();
      await delay(WRITE_MS);
      await redis.server.kill();
      await redis.server.restart();
    },
  }),
  outside({
    name: 'replica of Redis promoted that lacks the mark and the adds',
    start: () => ReplicatedSite.start(),
    strike: async ({ redis }) => {
      await redis.lag(WRITE_MS);
      await redis.promote();
      redis.lead(redis.replica);
    },
  }),
  outside({
    name: 'Postgres crashed, and back',
    start: server,
    strike: async ({ postgres }) => {
      await postgres.crash();
      await delay(OUTAGE_MS);
    },
  }),
  outside({
    name: 'feed cut again and again',
    quick: true,
    start: server,
    strike: async (site) => {
      for (let i = 0; i < 5; i++) {
        await site.run(END_OF_FEED);
        await delay(OUTAGE_MS / 2);
      }
    },
  }),
  outside({
    name: 'feed into a black hole',
    start: server,
    strike: async ({ feed, shops }) => {
      feed.hold();
      await eventually(
        'that is noticed',
        () => shops.some(({ events }) => events.some(({ type }) => type === 'feed-failed')),
        BLACK_HOLE_MS,
      );
      feed.release();
    },
  }),
  outside({
    name: 'slot dropped',
    start: server,
    strike: async (site) => {
      await eventually('the slot is dropped', () =>
        site.run(`${END_OF_FEED}; select pg_drop_replication_slot('${SLOT}')`).then(
          () => true,
          () => false,
        ),
      );
    },
  }),
  outside({
    name: 'another table, with more rows, takes the name of the one that a feed follows',
    quick: true,
    start: server,
    strike: async (site) => {
      await site.run(`begin; lock table goods in access exclusive mode;
        create table goods_to_be (like goods including all); alter publication bloom add table goods_to_be;
        insert into goods_to_be select sku from goods;
        alter table goods rename to goods_that_were; alter table goods_to_be rename to goods; commit`);
      // The publication lacks it while these are written.
      await site.run(`alter publication bloom drop table goods; insert into goods select 'unpublished-' || i from generate_series(1, ${UNPUBLISHED}) i;
        alter publication bloom add table goods`);
      site.goods.push(...Array.from({ length: UNPUBLISHED }, (_, i) => `unpublished-${i + 1}`));
    },
  }),
  outside({
    name: 'slot given up by Postgres (max_slot_wal_keep_size)',
    start: server,
    settings: SMALL_LOG,
    strike: async (site) => {
      site.feed.hold();
      await eventually('the slot is lost', async () => {
        await site.run('create table if not exists bulk (text text)');
        await site.run(`insert into bulk select repeat(md5(i::text), 100) from generate_series(1, 5000) i`);
        await site.run('select pg_switch_wal()');
        await site.run('checkpoint');
        return site.slotStatus().then((status) => status === 'lost');
      });
      site.feed.disconnect();
      site.feed.release();
    },
  }),
  outside({
    name: 'a row far ahead in the order',
    quick: true,
    start: server,
    strike: async (site) => {
      await site.run('insert into orders values (9000000000000000)');
      // As long as a mark takes to come there, before a rebuild and after it.
      await delay(3 * OVERLAP_MS);
      await site.shops[0]!.filter(ORDERS).rebuild({ join: false });
      await delay(OVERLAP_MS);
    },
  }),
  outside({
    name: 'rebuilds go live meanwhile',
    quick: true,
    start: server,
    strike: async ({ shops }) => {
      for (let i = 0; i < 2; i++)
        for (const name of [ORDERS, GOODS]) await shops[i]!.filter(name).rebuild({ join: false });
    },
  }),
];
