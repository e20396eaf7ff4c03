import type { BloomFilterMetrics, BloomMethodMetrics, BloomService, BloomUnknownCounts } from 'nestjs-bloom';

/** The metrics of one filter; fails where an id has got into them. */
export function metricsOf(
  bloom: BloomService,
  filter: string,
  ids: readonly string[] = [],
): BloomFilterMetrics {
  const found = bloom.metrics().find((one) => one.filter === filter);
  if (!found) throw new Error(`There are no metrics of filter '${filter}'.`);
  const text = JSON.stringify(found);
  for (const id of ids) if (text.includes(id)) throw new Error(`The metrics contain the id '${id}'.`);
  return found;
}

export function methodOf({ methods }: BloomFilterMetrics, method: string): BloomMethodMetrics {
  const found = methods.find((one) => one.method === method);
  if (!found)
    throw new Error(
      `There are no metrics of ${method}, only of ${methods.map((one) => one.method).join(', ')}.`,
    );
  return found;
}

/** The reasons that are not 0. */
export function reasonsIn(unknown: BloomUnknownCounts): Partial<BloomUnknownCounts> {
  return Object.fromEntries(Object.entries(unknown).filter(([, count]) => count > 0));
}
