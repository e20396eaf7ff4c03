import type { BloomFilterMetrics, BloomHistogram } from 'nestjs-bloom';

/** The paths of which latencies are drawn. */
export const PATHS = ['local', 'remote', 'add'] as const;

/** All counts of a filter that the dashboard compares, by name. */
export function countersOf({
  guards,
  saved,
  lookups,
  copyWaits,
  outside,
  latencyMs,
  methods,
}: BloomFilterMetrics): Map<string, number> {
  const counters = new Map<string, number>([
    ['absent', guards.absent],
    ['maybe', guards.maybe],
    ['unknown', guards.unknown],
    ['invalid', guards.invalid],
    ['remembered', guards.remembered],
    ['saved', saved],
    ['local', lookups.local],
    ['remote', lookups.remote],
    ['copyWaits', copyWaits.adds],
    ['copyWaitMs', copyWaits.ms],
    ['outside', (outside?.topUp?.added ?? 0) + (outside?.feed?.added ?? 0)],
  ]);
  for (const [reason, count] of Object.entries(lookups.unknown)) counters.set(`unknown.${reason}`, count);
  for (const path of PATHS) latencyMs[path].counts.forEach((count, i) => counters.set(`${path}.${i}`, count));
  for (const one of methods)
    counters.set(`method.${one.method}`, one.absent + one.maybe + totalOf(one.unknown) + one.remembered);
  return counters;
}

export function totalOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/**
 * The value below which a share of the observations lies, as far as buckets tell: it is taken to lie evenly
 * within a bucket. Undefined without observations. Above the last bound it is that bound.
 */
export function quantile(
  share: number,
  { bounds, counts }: Pick<BloomHistogram, 'bounds' | 'counts'>,
): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return undefined;
  let below = 0;
  for (const [i, bound] of bounds.entries()) {
    const count = counts[i] ?? 0;
    if (count > 0 && below + count >= share * total) {
      const from = i === 0 ? 0 : bounds[i - 1]!;
      return from + (bound - from) * ((share * total - below) / count);
    }
    below += count;
  }
  return bounds.at(-1);
}
