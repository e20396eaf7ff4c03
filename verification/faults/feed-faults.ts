import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import { type Fault, fault } from './fault.js';
import { rebuild } from './rebuilds.js';
import { ProxiedSite } from './redis-site.js';
import type { ShopInstance } from './shop-instance.js';

/** For how many leases nothing comes. */
const LEASES = 6;

type LeasedKind = 'leased' | 'leased parts';

/** Faults of the ways by which readers hear of entries; all else of two of three instances goes through. */
export const FEED_FAULTS = {
  /** Readers go on by the stream, or the row fails. */
  messagesHeld: (kind: LeasedKind, quick = false): Fault =>
    fault({
      name: 'messages into a black hole, all else goes through',
      group: kind,
      kind,
      quick,
      start: () => ProxiedSite.start(),
      strike: async ({ site, instances, copyLeaseMs }) => {
        for (const proxy of site.proxies) proxy.holdOnly('subscribe');
        await Promise.all([rebuild(instances[2]), delay(LEASES * copyLeaseMs)]);
        await eventually('readers without messages are leased', () => instances.every(isLeased));
        for (const proxy of site.proxies) proxy.release();
      },
    }),

  /** Readers lose their leases, or the row fails. */
  allHeld: (kind: LeasedKind, quick = false): Fault =>
    fault({
      name: 'messages and stream into a black hole, all else goes through',
      group: kind,
      kind,
      quick,
      start: () => ProxiedSite.start(),
      strike: async ({ site, instances, copyLeaseMs }) => {
        for (const proxy of site.proxies) proxy.holdOnly('subscribe', 'xread');
        const cutOff = instances.slice(0, site.proxies.length);
        await eventually('readers that hear nothing have no lease', () => !cutOff.some(isLeased));
        await Promise.all([rebuild(instances[2]), delay(LEASES * copyLeaseMs)]);
        for (const proxy of site.proxies) proxy.release();
      },
    }),
} as const;

function isLeased({ bloom }: ShopInstance): boolean {
  return bloom.metrics()[0]?.copyLease?.isLeased === true;
}
