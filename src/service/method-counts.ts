import { type BloomUnknownReason, UNKNOWN_REASONS } from '../store/index.js';
import type { BloomMethodMetrics, BloomUnknownCounts } from './metrics.js';

/** So many methods of a filter are counted one by one, and those beyond together: classes may be made at run time. */
export const MAX_METHODS = 500;
/** Stands for the methods beyond `MAX_METHODS`. */
export const OTHER_METHODS = '(others)';

/** How many lookups were `unknown`, by the reason. */
export type UnknownCounts = Record<BloomUnknownReason, number>;

/** What one guarded method has seen of one filter. */
export interface MethodCounts {
  /** Whose counts these are: differs for each `MethodCountsByName`. */
  readonly of: object;
  readonly method: string;
  absent: number;
  maybe: number;
  readonly unknown: UnknownCounts;
  remembered: number;
  /** Calls that were answered without the method; of a method that takes many ids, ids that it was not given. */
  saved: number;
  foundNothing: number;
  /** Absent answers that go to the method before the guard blocks any; `BLOCKS_NONE` for ever. */
  trial: number;
  /** Number of the build in which an absent answer was wrong first; undefined where none was. */
  wrongIn: number | undefined;
}

/** The trial of a guard that was wrong about rows, and that no rebuild has mended. */
export const BLOCKS_NONE = -1;

/** A guarded method, as its decorator or its batch names it. */
export interface CountedMethod {
  /** For people: `ProductController.findOne`. */
  readonly method: string;
  /** The counts of the filter that was asked last: they are found without a search, since nearly always one application in a process calls a method. */
  readonly counted: { last: MethodCounts | undefined };
}

/** The counts of each guarded method of one filter. */
export class MethodCountsByName {
  /** Names these counts without holding them: a decorator lives longer than the application. */
  private readonly token: object = {};
  private readonly byName = new Map<string, MethodCounts>();

  /** @param trial with which each method begins. */
  constructor(private readonly trial = 0) {}

  of({ method, counted }: CountedMethod): MethodCounts {
    const { last } = counted;
    if (last !== undefined && last.of === this.token) return last;
    return (counted.last = this.named(method));
  }

  /** Begins the trial of each method once more. */
  tryAgain(): void {
    for (const counts of this.byName.values()) if (counts.trial !== BLOCKS_NONE) counts.trial = this.trial;
  }

  /** In the order of their first call. */
  all(): BloomMethodMetrics[] {
    return [...this.byName.values()].map((counts) => ({
      method: counts.method,
      absent: counts.absent,
      maybe: counts.maybe,
      unknown: { ...counts.unknown },
      remembered: counts.remembered,
      saved: counts.saved,
      foundNothing: counts.foundNothing,
    }));
  }

  total(count: 'absent' | 'maybe'): number {
    let sum = 0;
    for (const counts of this.byName.values()) sum += counts[count];
    return sum;
  }

  named(method: string): MethodCounts {
    const { byName } = this;
    const known = byName.get(method);
    if (known) return known;
    const name = byName.size < MAX_METHODS ? method : OTHER_METHODS;
    const counts = byName.get(name) ?? newCounts(this.token, name, this.trial);
    byName.set(name, counts);
    return counts;
  }
}

/** Zero for each reason. */
export function noUnknowns(): UnknownCounts {
  return Object.fromEntries(UNKNOWN_REASONS.map((reason) => [reason, 0])) as UnknownCounts;
}

export function totalOf(unknown: BloomUnknownCounts): number {
  return Object.values(unknown).reduce((sum, count) => sum + count, 0);
}

function newCounts(of: object, method: string, trial: number): MethodCounts {
  return {
    of,
    method,
    absent: 0,
    maybe: 0,
    unknown: noUnknowns(),
    remembered: 0,
    saved: 0,
    foundNothing: 0,
    trial,
    wrongIn: undefined,
  };
}
