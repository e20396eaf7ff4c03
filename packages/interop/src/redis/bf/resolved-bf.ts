import { randomBytes } from 'node:crypto';
import type { StagePlan } from 'nestjs-bloom/store';
import type { StoredGeneration } from '../generation/generation-meta.js';
import type { ResolvedGeneration } from '../generation/generation-snapshot.js';

/** What a filter was made with; of one that others made, what this process would have made it with. */
export interface BfSettings {
  readonly capacity: number;
  readonly errorRate: number;
  readonly expansion: number | undefined;
  readonly nonScaling: boolean;
}

/** A generation, and where it is. */
export interface ResolvedBf extends ResolvedGeneration {
  readonly key: string;
  readonly settings: BfSettings;
  /**
   * Random ids that are in this generation and in no other filter, but for the chance that all of them pass
   * there.
   */
  readonly canaries: readonly string[];
  /**
   * Random ids that are put in when the generation goes offline: a reader that finds them all asks the
   * metadata.
   */
  readonly tombstones: readonly string[];
}

/** The chance that a filter at its error rate holds all canaries of another generation. */
const FALSE_MATCH_RATE = 2 ** -32;
/** Error rate of a filter that `BF.ADD` has made because there was none. */
const SERVER_DEFAULT_ERROR_RATE = 0.01;
/** Enough at an error rate of 0.25, beyond which servers do not go. */
const MAX_CANARIES = 16;
/** So many that they hardly ever all pass a filter that they were not put in. */
const TOMBSTONES = 2;

function canaryCount(errorRate: number): number {
  const passed = Math.max(errorRate, SERVER_DEFAULT_ERROR_RATE);
  return Math.min(MAX_CANARIES, Math.ceil(Math.log(FALSE_MATCH_RATE) / Math.log(passed)));
}

export function createGeneration(
  token: string,
  { capacity, errorRate }: Pick<StagePlan, 'capacity' | 'errorRate'>,
  { expansion, nonScaling }: { expansion?: number | undefined; nonScaling?: boolean | undefined },
): StoredGeneration {
  const known = Array.from({ length: canaryCount(errorRate) + TOMBSTONES }, () =>
    randomBytes(12).toString('base64url'),
  );
  const settings = { capacity, errorRate, expansion, nonScaling: nonScaling ?? false };
  return { token, settings: JSON.stringify(settings), canaries: known.join(' ') };
}

/** Undefined when the texts make no sense. */
export function resolveBf(generation: StoredGeneration, key: string): ResolvedBf | undefined {
  const known = generation.canaries.split(' ');
  const settings = parseSettings(generation.settings);
  if (!settings || known.includes('') || known.length <= TOMBSTONES) return undefined;
  return {
    generation,
    key,
    settings,
    canaries: known.slice(TOMBSTONES),
    tombstones: known.slice(0, TOMBSTONES),
  };
}

function parseSettings(text: string): BfSettings | undefined {
  try {
    const { capacity, errorRate, expansion, nonScaling } = JSON.parse(text) as BfSettings;
    const isSound = Number.isSafeInteger(capacity) && capacity >= 1 && errorRate > 0 && errorRate < 1;
    return isSound ? { capacity, errorRate, expansion, nonScaling } : undefined;
  } catch {
    return undefined;
  }
}
