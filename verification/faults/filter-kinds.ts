import type { BloomFilterOptions } from 'nestjs-bloom';
import { GenerationKeys } from '../../packages/interop/src/redis/generation/generation-keys.js';
import type { Peer } from '../../packages/interop/test/support/peers/peer.js';
import { goZeroPeer } from '../../packages/interop/test/support/peers/go-zero-peer.js';
import { redissonPeer } from '../../packages/interop/test/support/peers/redisson-peer.js';
import { cuckoo, redisBloom } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';
import { COPY_LEASE_MS, DRAIN_MS } from './timings.js';

export const FILTER = 'products';
export const CAPACITY = 4000;
export const PARTS = 16;
/** So few errors that an absent id that passes was not known to be absent. */
const ERROR_RATE = 1e-6;
/** The kinds of go-zero and Redisson. */
const FOREIGN_KEY = 'shop-products';
const REDISSON = { codec: 'StringCodec' } as const;

/** Where and how the filter of a fault is stored. */
export interface FilterKind {
  readonly options: Partial<BloomFilterOptions>;
  /** Without a source, ids are added before anything happens. */
  readonly hasSource: boolean;
  /** Nobody but `reset()` makes it. */
  readonly isMadeByReset?: boolean;
  /** Where to damage it: a key of the live filter, the metadata, and the keys of a rebuild. */
  readonly live: string;
  readonly meta: string;
  readonly staged: string;
  /** Where copies are read with leases. */
  readonly copyLeaseMs?: number;
  /** Another program that adds to the live key. */
  readonly peer?: Peer;
}

const own = {
  live: `bloom:{${FILTER}}:0`,
  meta: `bloom:{${FILTER}}:meta`,
  staged: `bloom:{${FILTER}}:next:*`,
};

export const FILTER_KINDS = {
  blocked: { options: { negativeCache: { shared: true } }, hasSource: true, ...own },
  partitioned: { options: { partitions: PARTS }, hasSource: true, ...own },
  leased: {
    options: { negativeCache: { shared: true }, replica: 'leased', leaseMs: COPY_LEASE_MS },
    hasSource: true,
    copyLeaseMs: COPY_LEASE_MS,
    ...own,
  },
  'no source': { options: { create: 'first-start' }, hasSource: false, ...own },
  explicit: { options: {}, hasSource: false, isMadeByReset: true, ...own },
  'go-zero': foreign(goZeroPeer(60 * CAPACITY)),
  redisson: foreign(redissonPeer(REDISSON, { capacity: CAPACITY, errorRate: ERROR_RATE })),
  /** Full when traffic begins, so that it grows a layer at least. */
  scaling: {
    options: { layout: scaling({ expansion: 1 }), create: 'first-start', capacity: 500 },
    hasSource: false,
    ...own,
    live: `bloom:{${FILTER}}:layer:*`,
  },
  redisbloom: {
    options: { layout: redisBloom({ key: FOREIGN_KEY }) },
    hasSource: true,
    ...beside(FOREIGN_KEY),
  },
  cuckoo: {
    options: { layout: cuckoo() },
    hasSource: true,
    ...beside(`bloom:{${FILTER}}:cf`),
    // Each generation has a key of its own.
    live: `bloom:{${FILTER}}:cf:[0-9a-f]*`,
  },
} as const satisfies Record<string, FilterKind>;

export type FilterKindName = keyof typeof FILTER_KINDS;
/** Kinds that have a group of the table to themselves. */
export type OtherKindName = Exclude<FilterKindName, 'blocked'>;

/** Length of the leases of copies; 0 where there are none. */
export function copyLeaseOf(kind: FilterKindName): number {
  const { copyLeaseMs = 0 }: FilterKind = FILTER_KINDS[kind];
  return copyLeaseMs;
}

/** Longer than any add that was not rejected, from its start to its visible row. */
export function drainOf(kind: FilterKindName, copyLeaseMs = copyLeaseOf(kind)): number {
  return DRAIN_MS + 2 * copyLeaseMs;
}

/** The definition of the filter, without its source. */
export function filterOptions(
  kind: FilterKindName,
  capacity: number,
  copyLeaseMs = copyLeaseOf(kind),
): BloomFilterOptions {
  const { options } = FILTER_KINDS[kind] as FilterKind;
  const leased = copyLeaseMs > 0 && { leaseMs: copyLeaseMs };
  return { name: FILTER, errorRate: ERROR_RATE, capacity, ...options, ...leased };
}

function foreign(peer: Peer): FilterKind {
  return { options: { layout: peer.layout(FOREIGN_KEY) }, hasSource: true, ...beside(FOREIGN_KEY), peer };
}

function beside(key: string): Pick<FilterKind, 'live' | 'meta' | 'staged'> {
  const { meta } = new GenerationKeys(key);
  return { live: key, meta, staged: `${meta.slice(0, -':meta'.length)}:next:*` };
}
