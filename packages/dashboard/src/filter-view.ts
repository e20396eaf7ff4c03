import type {
  BloomFilterInfo,
  BloomFilterMetrics,
  BloomInstance,
  BloomInstances,
  BloomMethodMetrics,
  BloomRebuildRecord,
} from 'nestjs-bloom';
import { totalOf } from './counters.js';
import type {
  CopiesRow,
  FilterDetail,
  FilterRow,
  InstanceDot,
  InstanceRow,
  MethodRow,
  OutsideRow,
  RebuildRow,
  RunningRebuild,
} from './dashboard-view.js';
import type { Rates } from './rates.js';

const LEASED = 'leased';

export interface RowContext {
  readonly metrics: BloomFilterMetrics;
  readonly instances: readonly BloomInstance[];
  readonly others: BloomInstances | undefined;
  readonly info: BloomFilterInfo | undefined;
  readonly isUnavailable: boolean;
  readonly isAlone: boolean;
  readonly seen: Pick<FilterRow, 'stateSince' | 'attackSince'>;
  readonly rates: Rates;
  readonly savedShare: number | undefined;
}

export function rowOf(context: RowContext): FilterRow {
  const { metrics, instances, others, info, isUnavailable, isAlone, seen, rates, savedShare } = context;
  const { mode } = others ?? {};
  return {
    name: metrics.filter,
    state: isUnavailable ? 'unavailable' : metrics.state,
    ...seen,
    mode: metrics.mode,
    sharedMode: mode && { mode: mode.mode, by: mode.by, at: mode.at.getTime() },
    store: info?.store,
    layout: info?.layout,
    lookupsPerSecond: callsOf((name) => rates.of(name)),
    blockedPerSecond: rates.of('saved'),
    savedShare,
    falsePositives: {
      observed: letThroughRate(instances),
      modelled: info?.modelledErrorRate,
      wanted: info?.errorRate,
    },
    fill:
      info && info.capacity > 0
        ? { count: info.count, capacity: info.capacity, bytes: info.bytes }
        : undefined,
    builtAt: info && (info.builtAt?.getTime() ?? null),
    nextRunAt: earliest(instances.map(({ metrics }) => metrics.rebuild.nextRunAt)),
    instances: instances.map(dotOf),
    copies: copiesOf(instances, rates),
    outside: outsideOf(instances, rates),
    running: runningOf(others?.running),
    advice: [...new Set(instances.flatMap(({ metrics }) => metrics.advice))],
    isAlone,
  };
}

export interface DetailContext {
  readonly name: string;
  readonly instances: readonly BloomInstance[];
  readonly rebuilds: readonly BloomRebuildRecord[];
  readonly rates: Rates;
}

export function detailOf({ name, instances, rebuilds, rates }: DetailContext): FilterDetail {
  return {
    name,
    methods: methodsOf(instances, rates),
    unknowns: unknownsOf(instances, rates),
    instances: instances.map((one) => instanceOf(one, rates)),
    rebuilds: rebuilds.map(rebuildOf),
  };
}

function dotOf({ id, host, pid, metrics }: BloomInstance): InstanceDot {
  return { id, host, pid, state: metrics.state, isCircuitOpen: metrics.isCircuitOpen };
}

function instanceOf(one: BloomInstance, rates: Rates): InstanceRow {
  const { id, startedAt, seenAt, metrics } = one;
  const { local, remote } = metrics.lookups;
  return {
    ...dotOf(one),
    startedAt: startedAt.getTime(),
    seenAt: seenAt.getTime(),
    mode: metrics.mode,
    lookupsPerSecond: callsOf((name) => rates.ofInstance(id, name)),
    localShare: local + remote > 0 ? local / (local + remote) : undefined,
    queuedAdds: metrics.queuedAdds,
    copy: copyOf(metrics),
  };
}

/** Undefined where no instance reads with leases. */
function copiesOf(instances: readonly BloomInstance[], rates: Rates): CopiesRow | undefined {
  const words = instances.map(({ metrics }) => copyOf(metrics)).filter((word) => word !== undefined);
  if (words.length === 0) return undefined;
  const without = words.filter((word) => word !== LEASED);
  const waitsPerSecond = rates.of('copyWaits');
  const waitMs = waitsPerSecond ? rates.of('copyWaitMs')! / waitsPerSecond : undefined;
  const causes = [...new Set(without)];
  return { leased: words.length - without.length, all: words.length, causes, waitsPerSecond, waitMs };
}

/** Undefined where no instance has the options `topUp` and `feed`. */
function outsideOf(instances: readonly BloomInstance[], rates: Rates): OutsideRow | undefined {
  const all = instances.map(({ metrics }) => metrics.outside).filter((one) => one !== undefined);
  if (all.length === 0) return undefined;
  const behind = all.map(({ feed }) => feed?.behindBytes).filter((bytes) => bytes !== undefined);
  const total = (count: (one: (typeof all)[number]) => number) =>
    all.reduce((sum, one) => sum + count(one), 0);
  return {
    following: all.filter(({ isFollowing }) => isFollowing).length,
    addedPerSecond: rates.of('outside'),
    failures: total(({ topUp, feed }) => (topUp?.failures ?? 0) + (feed?.failures ?? 0)),
    gaps: total(({ feed }) => feed?.gaps ?? 0),
    behindBytes: behind.length > 0 ? Math.max(...behind) : undefined,
  };
}

function copyOf({ copyLease }: BloomFilterMetrics): string | undefined {
  return copyLease && (copyLease.isLeased ? LEASED : copyLease.cause);
}

function callsOf(rate: (name: string) => number | undefined): number | undefined {
  const parts = ['absent', 'maybe', 'unknown', 'invalid', 'remembered'].map(rate);
  return parts[0] === undefined ? undefined : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);
}

/** Counts of all instances in the last minutes; undefined where nothing without a row was looked up. */
function letThroughRate(instances: readonly BloomInstance[]): number | undefined {
  let [absent, foundNothing] = [0, 0];
  for (const { recent } of instances.map(({ metrics }) => metrics)) {
    absent += recent?.absent ?? 0;
    foundNothing += recent?.foundNothing ?? 0;
  }
  return absent + foundNothing > 0 ? foundNothing / (absent + foundNothing) : undefined;
}

function earliest(moments: readonly (Date | undefined)[]): number | undefined {
  const known = moments.filter((moment) => moment !== undefined).map((moment) => moment.getTime());
  return known.length > 0 ? Math.min(...known) : undefined;
}

function runningOf(running: BloomInstances['running']): RunningRebuild | undefined {
  if (!running) return undefined;
  const { host, pid, startedAt, progress } = running;
  return {
    host,
    pid,
    startedAt: startedAt.getTime(),
    phase: progress?.phase,
    idsRead: progress?.idsRead ?? 0,
    share: progress?.share,
    remainingMs: progress?.remainingMs,
  };
}

/** The reason of a failure may quote an id of the source: the log of that process has it. */
function rebuildOf(record: BloomRebuildRecord): RebuildRow {
  const { outcome, startedAt, durationMs, host, pid, phases, ids } = record;
  const reason = outcome === 'failed' ? undefined : record.reason;
  return { outcome, startedAt: startedAt.getTime(), durationMs, host, pid, phases, ids, reason };
}

function methodsOf(instances: readonly BloomInstance[], rates: Rates): MethodRow[] {
  const byName = new Map<string, MethodRow>();
  for (const one of instances.flatMap(({ metrics }) => metrics.methods)) {
    byName.set(one.method, sum(byName.get(one.method), one, rates.of(`method.${one.method}`) ?? 0));
  }
  return [...byName.values()].toSorted((a, b) => b.perSecond - a.perSecond || b.saved - a.saved);
}

function sum(before: MethodRow | undefined, one: BloomMethodMetrics, perSecond: number): MethodRow {
  return {
    method: one.method,
    perSecond,
    absent: (before?.absent ?? 0) + one.absent,
    maybe: (before?.maybe ?? 0) + one.maybe,
    unknown: (before?.unknown ?? 0) + totalOf(one.unknown),
    remembered: (before?.remembered ?? 0) + one.remembered,
    saved: (before?.saved ?? 0) + one.saved,
    foundNothing: (before?.foundNothing ?? 0) + one.foundNothing,
  };
}

function unknownsOf(instances: readonly BloomInstance[], rates: Rates): FilterDetail['unknowns'] {
  const counts = new Map<string, number>();
  for (const { metrics } of instances)
    for (const [reason, count] of Object.entries(metrics.lookups.unknown))
      counts.set(reason, (counts.get(reason) ?? 0) + count);
  return [...counts]
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => ({ reason, count, perSecond: rates.of(`unknown.${reason}`) ?? 0 }));
}
