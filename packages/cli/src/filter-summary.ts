import type { RedisStore } from 'nestjs-bloom/internal';
import { stateOfParts } from './inspected-parts.js';
import { type FilterName, inspectFilter, type KeysOfFilter } from './inspection/index.js';

/** What Redis has of a filter, in one line. */
export interface FilterSummary extends FilterName {
  readonly layout: string;
  readonly state: string;
  /** Counts adds since the build; undefined where the layout does not count. */
  readonly ids: number | undefined;
  readonly owner: string | undefined;
  readonly keys: number;
  readonly bytes: number;
}

/** @throws {BloomUnavailableError} when the server cannot be asked. */
export async function describeFilter(
  access: RedisStore['access'],
  filter: FilterName,
  { keys }: KeysOfFilter,
): Promise<FilterSummary> {
  const { found, parts } = await inspectFilter({ ...access, ...filter }, { walkMs: 0 });
  const counts = (parts ?? [{ found }]).map((part) => ('found' in part ? part.found.count : undefined));
  return {
    ...filter,
    layout: found.layout,
    state: parts ? stateOfParts(parts) : found.state,
    ids: counts.some((one) => one === undefined)
      ? undefined
      : counts.reduce<number>((sum, one) => sum + one!, 0),
    owner: found.owner,
    keys: keys.length,
    // The key of another system stands beside those of this library.
    bytes:
      keys.reduce((sum, { bytes }) => sum + bytes, 0) + (filter.key === undefined ? 0 : found.live.bytes),
  };
}
