import type { BloomFilterState } from '../../common/index.js';
import type { FilterShape } from '../../filter/index.js';
import type { FilterDescription, PartDescription } from '../index.js';

export type KnownPart = Extract<PartDescription, FilterDescription>;

/** The worst first: a filter is as good as its worst part. */
const STATES: readonly BloomFilterState[] = ['unbuilt', 'lost', 'suspect', 'ready'];

export function isKnown(part: PartDescription): part is KnownPart {
  return 'state' in part;
}

export function isUnreachable(part: PartDescription): part is Exclude<PartDescription, KnownPart> {
  return !isKnown(part);
}

export function worstState(states: readonly (BloomFilterState | undefined)[]): BloomFilterState | undefined {
  return STATES.find((state) => states.includes(state));
}

/**
 * Parts of a filter without a source as its lookups have to take them: one that is nowhere while others have
 * ids was lost, and must not be created again, empty.
 */
export function judged(parts: readonly PartDescription[], hasSource: boolean): readonly PartDescription[] {
  const hasIds = parts.some((part) => isKnown(part) && (part.count > 0 || part.builtIds > 0));
  if (hasSource || !hasIds) return parts;
  return parts.map((part) => (isKnown(part) && part.state === 'unbuilt' ? { ...part, state: 'lost' } : part));
}

/** What a filter is as a whole. Parts that cannot be asked count as `suspect`, and with no numbers. */
export function totalOf(parts: readonly PartDescription[]): FilterDescription {
  const known = parts.filter(isKnown);
  const sum = (numberOf: (part: KnownPart) => number) =>
    known.reduce((total, part) => total + numberOf(part), 0);
  const times = known.map(({ builtAt }) => builtAt?.getTime()).filter((time) => time !== undefined);
  const shapes = known.map(({ shape }) => shape).filter((shape) => shape !== undefined);
  const isWhole = shapes.length === parts.length;
  return {
    state: worstState(parts.map((part) => (isKnown(part) ? part.state : 'suspect')))!,
    shape: isWhole ? shapeOf(shapes) : undefined,
    builds: Math.max(...known.map(({ builds }) => builds)),
    count: sum(({ count }) => count),
    builtIds: sum(({ builtIds }) => builtIds),
    capacity: sum(({ capacity }) => capacity),
    errorRate: Math.max(...known.map(({ errorRate }) => errorRate)),
    // The oldest one: rows are known from then on.
    builtAt: times.length > 0 ? new Date(Math.min(...times)) : undefined,
    rebuilding: known.some(({ rebuilding }) => rebuilding),
    parts,
  };
}

/** An id is in any part with the same probability. */
function shapeOf(shapes: readonly FilterShape[]): FilterShape {
  return {
    hashCount: Math.max(...shapes.map(({ hashCount }) => hashCount)),
    bytes: shapes.reduce((sum, { bytes }) => sum + bytes, 0),
    get modelledErrorRate() {
      return mean(shapes.map(({ modelledErrorRate }) => modelledErrorRate));
    },
  };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
