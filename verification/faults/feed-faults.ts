import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import { type Fault, fault, type FaultSpecification } from './fault.js';
import { rebuild } from './rebuilds.js';
import { ProxiedSite } from './redis-site.js';
import type { ShopInstance } from './shop-instance.js';

/** A script without a reply: the client library writes the names of commands in small letters. */
const SILENT_SCRIPT = 'EVALSHA';
/** For how many leases nothing comes. */
const LEASES = 6;

/**
 * Faults of the ways by which readers hear of entries and acknowledge them; all else of two of three
 * instances goes through.
 */
export const FEED_FAULTS = {
  /** Readers go on by the stream, or the row fails. */
  messagesHeld: (quick = false) =>
    feedFault({
      name: 'messages into a black hole, all else goes through',
      quick,
      held: ['subscribe'],
      strike: async ({ instances, copyLeaseMs }) => {
        await Promise.all([rebuild(instances[2]), delay(LEASES * copyLeaseMs)]);
        await eventually('readers without messages are leased', () => instances.every(isLeased));
      },
    }),

  /** Readers lose their leases, or the row fails. */
  allHeld: (quick = false) =>
    feedFault({
      name: 'messages and stream into a black hole, all else goes through',
      quick,
      held: ['subscribe', 'xread'],
      strike: async ({ site, instances, copyLeaseMs }) => {
        const cutOff = instances.slice(0, site.proxies.length);
        await eventually('readers that hear nothing have no lease', () => !cutOff.some(isLeased));
        await Promise.all([rebuild(instances[2]), delay(LEASES * copyLeaseMs)]);
      },
    }),

  /** Readers notice it, and acknowledge on another connection, or the row fails. */
  acknowledgementsHeld: (quick = false) =>
    feedFault({
      name: 'acknowledgements into a black hole, all else goes through',
      quick,
      held: [SILENT_SCRIPT],
      strike: async ({ site, instances, copyLeaseMs }) => {
        const cutOff = instances.slice(0, site.proxies.length);
        await Promise.all([rebuild(instances[2]), delay(LEASES * copyLeaseMs)]);
        await eventually('readers have noticed it', () => cutOff.every(hasNoticed));
        await eventually('they are leased', () => instances.every(isLeased));
      },
    }),
} as const;

interface FeedFault extends Pick<FaultSpecification<ProxiedSite>, 'name' | 'quick' | 'strike'> {
  /** Commands after which a connection lets nothing through. */
  readonly held: readonly string[];
}

function feedFault({ held, strike, ...row }: FeedFault): Fault {
  return fault({
    ...row,
    group: 'leased',
    kind: 'leased',
    start: () => ProxiedSite.start(),
    strike: async (world) => {
      const { proxies } = world.site;
      for (const proxy of proxies) proxy.holdOnly(...held);
      await strike(world);
      for (const proxy of proxies) proxy.release();
    },
  });
}

function isLeased({ bloom }: ShopInstance): boolean {
  return bloom.metrics()[0]?.copyLease?.isLeased === true;
}

function hasNoticed({ events }: ShopInstance): boolean {
  return events.some(
    (event) => event.type === 'connection-error' && String(event.error).includes("did not run 'copyAck'"),
  );
}
