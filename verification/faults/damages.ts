import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { eventually } from '../../test/support/eventually.js';
import { type Fault, fault, type FaultSpecification } from './fault.js';
import { FILTER_KINDS, type FilterKind, type OtherKindName } from './filter-kinds.js';
import { ServerSite } from './redis-site.js';

/** What somebody does to the keys of a filter of any kind. */
export interface Damage {
  readonly name: string;
  strike(admin: Redis, filter: FilterKind, key: string): Promise<unknown>;
  readonly quick?: boolean;
}

type Options = Pick<FaultSpecification<ServerSite>, 'quick' | 'isForGood'> & {
  readonly start?: () => Promise<ServerSite>;
};

/** A row of the table: the damage done once. */
export function damaged(kind: OtherKindName, { name, strike, quick }: Damage, options: Options = {}): Fault {
  return fault({
    name,
    group: kind,
    kind,
    start: () => ServerSite.start(),
    ...(quick ? { quick } : {}),
    ...options,
    strike: async ({ site }) => {
      const filter: FilterKind = FILTER_KINDS[kind];
      // The first of several keys will do: a lookup reads each.
      const key = filter.live.endsWith('*') ? (await site.admin.keys(filter.live)).sort()[0]! : filter.live;
      await strike(site.admin, filter, key);
    },
  });
}

/** The same while an instance rebuilds. */
export function damagedInRebuild(
  kind: OtherKindName,
  { name, strike, quick }: Damage,
  options: Options = {},
): Fault {
  return fault({
    name: `${name} during a rebuild`,
    group: kind,
    kind,
    start: () => ServerSite.start(),
    ...(quick ? { quick } : {}),
    ...options,
    strike: async ({ site, instances, over }) => {
      const rebuild = instances[0].filter.rebuild().catch(() => {});
      await delay(150);
      const filter: FilterKind = FILTER_KINDS[kind];
      await strike(site.admin, filter, filter.live);
      over();
      await rebuild;
    },
  });
}

/** Half of it, and a part of a block, are left. */
export const CUT = `local length = redis.call('STRLEN', KEYS[1])
return redis.call('SET', KEYS[1], redis.call('GETRANGE', KEYS[1], 0, math.floor(length / 2) + 99))`;

export const DAMAGES = {
  deleted: { name: 'key deleted', strike: (admin, _, key) => admin.del(key) },
  emptied: { name: 'key emptied', strike: (admin, _, key) => admin.set(key, '') },
  cut: {
    name: 'key cut short',
    // In one step: what is added between a GET and a SET would be lost from the part that stays, as by an
    // older copy.
    strike: (admin, _, key) => admin.eval(CUT, 1, key),
  },
  zeros: {
    name: 'key with zero bytes',
    strike: async (admin, _, key) => admin.set(key, Buffer.alloc(await admin.strlen(key))),
  },
  otherBytes: {
    name: 'key with other bytes',
    strike: async (admin, _, key) => admin.set(key, randomBytes(await admin.strlen(key))),
  },
  otherType: {
    name: 'key of another type',
    strike: (admin, _, key) => admin.multi().del(key).rpush(key, 'x').exec(),
  },
  flushed: { name: 'FLUSHALL', strike: (admin) => admin.flushall() },
  metaDeleted: { name: 'metadata deleted', strike: (admin, { meta }) => admin.del(meta) },
  metaNonsense: {
    name: 'metadata edited to nonsense',
    strike: async (admin, { meta }) => {
      await admin.hset(meta, 'settings', '{}');
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    },
  },
  metaOtherToken: {
    name: 'metadata with another token',
    strike: (admin, { meta }) => admin.hset(meta, 'token', 'another'),
  },
  stagedDeleted: {
    name: 'staging deleted',
    strike: async (admin, { staged }) => {
      let keys: string[] = [];
      await eventually('something is staged', async () => (keys = await admin.keys(staged)).length > 0);
      return admin.del(...keys);
    },
  },
} as const satisfies Record<string, Damage>;
