import { randomBytes } from 'node:crypto';
import type { IdKey } from 'nestjs-bloom/filter';
import { cuckooCodec, type CuckooLayoutOptions } from '../../formats/cuckoo-codec.js';
import type { CuckooLayout } from '../../formats/cuckoo-layout.js';
import type { StagePlan } from 'nestjs-bloom/store';
import type { StoredGeneration } from '../generation/generation-meta.js';
import type { ResolvedGeneration } from '../generation/generation-snapshot.js';
import type { CfKeys } from './cf-keys.js';

/** Enough that another filter hardly ever holds all of them. */
const CANARIES = 12;

/** What a filter was made with. */
export interface CfFilterSettings {
  /** Ids it is for. */
  readonly capacity: number;
  readonly errorRate: number;
  /** As `CF.RESERVE` takes it. */
  readonly slots: number;
  readonly bucketSize: number;
  readonly maxIterations: number;
  readonly expansion: number;
}

/** A generation, and where it is. */
export interface ResolvedCf extends ResolvedGeneration {
  readonly settings: CfFilterSettings;
  /** Random ids that are in this generation. */
  readonly canaries: readonly string[];
  readonly key: string;
  readonly kept: string;
  /** Layout of the first table. */
  readonly layout: CuckooLayout;
}

export function createGeneration(
  token: string,
  { capacity, errorRate }: Pick<StagePlan, 'capacity' | 'errorRate'>,
  layout: CuckooLayoutOptions,
): StoredGeneration {
  const plan = cuckooCodec.plan({ ...layout, capacity: capacity + CANARIES, errorRate });
  const { bucketSize, maxIterations, expansion } = cuckooCodec.size({ ...plan.layout, capacity: plan.bytes });
  const settings = { capacity, errorRate, slots: plan.bytes, bucketSize, maxIterations, expansion };
  const canaries = Array.from({ length: CANARIES }, () => randomBytes(12).toString('base64url'));
  return { token, settings: JSON.stringify(settings), canaries: canaries.join(' ') };
}

/** Undefined when the texts make no sense. */
export function resolveCf(keys: CfKeys, generation: StoredGeneration): ResolvedCf | undefined {
  const canaries = generation.canaries.split(' ');
  if (canaries.includes('')) return undefined;
  try {
    const settings = JSON.parse(generation.settings) as CfFilterSettings;
    const layout = cuckooCodec.layout(cuckooCodec.size({ ...settings, capacity: settings.slots }));
    const { token } = generation;
    return { generation, settings, canaries, layout, key: keys.generation(token), kept: keys.kept(token) };
  } catch {
    return undefined;
  }
}

/** What `CF.RESERVE` takes after the key. */
export function reserveArguments({ settings }: ResolvedCf): (string | number)[] {
  const { slots, bucketSize, maxIterations, expansion } = settings;
  return [slots, 'BUCKETSIZE', bucketSize, 'MAXITERATIONS', maxIterations, 'EXPANSION', expansion];
}

/**
 * A name for an id's fingerprint and its buckets in the first table: ids that meet in a larger one meet there
 * too.
 */
export function fingerprintName({ layout }: ResolvedCf, id: IdKey): string {
  return `${Math.min(...layout.positions(id))} ${layout.fingerprintOf(id)}`;
}
