import { setTimeout as delay } from 'node:timers/promises';
import type { Safety } from '../../test/support/broken-lua.js';
import { eventually } from '../../test/support/eventually.js';
import {
  CAPACITY,
  copyLeaseOf,
  drainOf,
  FILTER_KINDS,
  type FilterKind,
  type FilterKindName,
  type OtherKindName,
} from './filter-kinds.js';
import { ShopInstance } from './shop-instance.js';
import { Ledger } from './ledger.js';
import { PeerTraffic } from './peer-traffic.js';
import { Protection } from './protection.js';
import type { RedisSite } from './redis-site.js';
import { ShopDatabase } from './shop-database.js';
import { PATIENT_TIMEOUT_MS, TIMEOUT_MS } from './timings.js';
import { Traffic } from './traffic.js';

/** What a fault strikes at. */
export interface World<Site extends RedisSite> {
  readonly site: Site;
  readonly table: ShopDatabase;
  /** Two with the default deadline, then a patient one. */
  readonly instances: readonly [ShopInstance, ShopInstance, ShopInstance];
  readonly traffic: Traffic;
  readonly without: Safety | undefined;
  readonly capacity: number;
  readonly kind: FilterKindName;
  /** Length of the leases of copies; 0 where there are none. */
  readonly copyLeaseMs: number;
  /** Says that the fault is over, when `strike` goes on after that. */
  over(): void;
  /** Something that was measured besides, for people. */
  remark(text: string): void;
}

export interface FaultSpecification<Site extends RedisSite> {
  readonly name: string;
  readonly group: 'redis' | 'keys' | 'rebuild' | 'versions' | 'owners' | 'writes' | 'outside' | OtherKindName;
  readonly start: () => Promise<Site>;
  /** Done before the instances start. */
  readonly prepare?: (before: { readonly site: Site; readonly table: ShopDatabase }) => Promise<void>;
  /** Nobody adds before the fault says so. */
  readonly addsLater?: boolean;
  /** Whether it is in the shorter table. */
  readonly quick?: boolean;
  /** Nothing else runs meanwhile, since time is measured. */
  readonly alone?: boolean;
  /** The conditions of the promise do not hold: it shows what that costs, and is run only on demand. */
  readonly isBeyond?: boolean;
  readonly capacity?: number;
  readonly leaseMs?: number;
  /** Reading of copies; that of the kind unless it says so. */
  readonly copyLeaseMs?: number;
  /** The instances believe what a server has after a restart. */
  readonly trustAfterFailover?: boolean;
  /** The instances rebuild every so often. */
  readonly everyMs?: number;
  /** Protection must be back within this time. */
  readonly backWithinMs?: number;
  /** Default `blocked`. */
  readonly kind?: FilterKindName;
  /** The filter has no source, so that what is lost stays `unknown` until somebody empties it. */
  readonly isForGood?: boolean;
  /** Breaks something, for some time or once; throws when it finds what must not be. */
  readonly strike: (world: World<Site>) => Promise<void>;
}

export interface Fault {
  readonly name: string;
  readonly group: FaultSpecification<RedisSite>['group'];
  readonly quick: boolean;
  readonly alone: boolean;
  readonly isBeyond: boolean;
  run(options: { without: Safety | undefined }): Promise<Judgement>;
}

export interface Judgement {
  readonly fault: string;
  readonly lookups: number;
  readonly adds: number;
  readonly rejectedAdds: number;
  readonly wrongAbsent: number;
  readonly callerErrors: number;
  /** From the end of the fault; null when protection did not come back, or could not. */
  readonly protectedAgainMs: number | null;
  /** It could not come back. */
  readonly isForGood: boolean;
  readonly remarks: readonly string[];
  /** Something was found that must not be. */
  readonly failure?: string;
}

const IDS_IN_TABLE = 1000;
/** Adds of this time are in the live generation alone. */
const WARM_UP_MS = 200;

export function fault<Site extends RedisSite>(specification: FaultSpecification<Site>): Fault {
  const { name, group, quick = false, alone = false, isBeyond = false } = specification;
  return { name, group, quick, alone, isBeyond, run: ({ without }) => judge(specification, without) };
}

async function judge<Site extends RedisSite>(
  specification: FaultSpecification<Site>,
  without: Safety | undefined,
): Promise<Judgement> {
  const { name, start, strike, capacity = CAPACITY, kind = 'blocked', isForGood = false } = specification;
  const { prepare, addsLater, leaseMs, everyMs, trustAfterFailover, backWithinMs = Infinity } = specification;
  const ids = Array.from({ length: IDS_IN_TABLE }, (_, i) => `built-${i}`);
  const table = new ShopDatabase(ids);
  const remarks: string[] = [];
  const instances: ShopInstance[] = [];
  const site = await start();
  let peerTraffic: PeerTraffic | undefined;
  let failure: string | undefined;
  let protectedAgainMs: number | null = null;
  const { hasSource, isMadeByReset, peer, live }: FilterKind = FILTER_KINDS[kind];
  const { copyLeaseMs = copyLeaseOf(kind) } = specification;
  const ledger = new Ledger(ids, drainOf(kind, copyLeaseMs), copyLeaseMs);
  try {
    await prepare?.({ site, table });
    for (const timeoutMs of [TIMEOUT_MS, TIMEOUT_MS, PATIENT_TIMEOUT_MS]) {
      const redis = site.connection(instances.length);
      instances.push(
        await ShopInstance.start({
          redis,
          table,
          kind,
          timeoutMs,
          capacity,
          leaseMs,
          copyLeaseMs,
          everyMs,
          without,
          ...(trustAfterFailover && { trustAfterFailover }),
        }),
      );
      if (isMadeByReset && instances.length === 1) await made(instances[0]!);
      await untilProtected(instances.at(-1)!);
    }
    if (!hasSource) await instances[0]!.filter.addMany(ids);
    if (copyLeaseMs && !without) await untilLeased(instances);
    const protection = new Protection(instances);
    const traffic = new Traffic(instances, ledger, protection);
    if (peer) {
      peerTraffic = new PeerTraffic({ redis: site.connection(0), peer, key: live, table, ledger, instances });
      peerTraffic.start();
    }
    if (addsLater) traffic.adders = new Set();
    traffic.start();
    await delay(WARM_UP_MS);

    let overAt: number | undefined;
    try {
      const world: World<Site> = {
        site,
        table,
        instances: instances as unknown as World<Site>['instances'],
        traffic,
        without,
        capacity,
        kind,
        copyLeaseMs,
        over: () => (overAt ??= performance.now()),
        remark: (text) => remarks.push(text),
      };
      await strike(world);
      if (isForGood) await expectUnknown(instances);
      else protectedAgainMs = await protection.backAfter(overAt ?? performance.now());
      if (copyLeaseMs && !without) await untilLeased(instances);
      if (protectedAgainMs === null && !isForGood) failure = 'Protection did not come back.';
      if (protectedAgainMs !== null && protectedAgainMs > backWithinMs)
        failure = `Protection took longer than ${backWithinMs} ms.`;
    } catch (error) {
      failure = String(error);
    }
    await peerTraffic?.stop();
    await traffic.stop();
    await traffic.sweep();
  } finally {
    await peerTraffic?.stop();
    await Promise.all(instances.map((instance) => instance.close()));
    await site.stop();
    ledger.close();
  }
  if (ledger.callerErrors.length > 0) remarks.push(`error of a caller: ${String(ledger.callerErrors[0])}`);
  if (ledger.wrongAbsent > 0) remarks.push(`wrongly absent: ${ledger.firstWrong.join(', ')}`);
  if (ledger.lateAdds > 0) remarks.push(`${ledger.lateAdds} adds took longer than drainMs`);
  if (failure) remarks.push(...lastEvents(instances));
  return {
    fault: name,
    lookups: ledger.lookups,
    adds: ledger.adds,
    rejectedAdds: ledger.rejectedAdds,
    wrongAbsent: ledger.wrongAbsent,
    callerErrors: ledger.callerErrors.length,
    protectedAgainMs: protectedAgainMs === null ? null : Math.round(protectedAgainMs),
    isForGood,
    remarks,
    ...(failure !== undefined && { failure }),
  };
}

/** On a machine that is busy a `reset()` may lose its lease. */
async function made({ filter }: ShopInstance): Promise<void> {
  await eventually('the filter is made', () =>
    filter.reset().then(
      () => true,
      () => false,
    ),
  );
}

async function untilProtected({ filter }: ShopInstance): Promise<void> {
  await eventually('the filter answers', async () => (await filter.check('nobody')) === 'absent');
}

/** Their copies answer "absent". */
async function untilLeased(instances: readonly ShopInstance[]): Promise<void> {
  for (const { filter } of instances) {
    await eventually('the copy is leased', async () => {
      const info = await filter.info().catch(() => undefined);
      return info?.copyLease?.isLeased === true;
    });
  }
}

/** What is lost for good: every instance says so. */
async function expectUnknown(instances: readonly ShopInstance[]): Promise<void> {
  for (const { filter } of instances) {
    await eventually('the loss is noticed', async () => (await filter.check('nobody')) === 'unknown');
  }
}

function lastEvents(instances: readonly ShopInstance[]): string[] {
  return instances.flatMap(({ events }, i) =>
    events.slice(-5).map((event) => {
      const said = 'error' in event ? event.error : 'reason' in event ? event.reason : '';
      return `instance ${i}: ${event.type} ${String(said)}`;
    }),
  );
}
