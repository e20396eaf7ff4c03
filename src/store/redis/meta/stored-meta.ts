import { createHash } from 'node:crypto';
import type { BloomFilterState } from '../../../common/index.js';
import type { FilterDescription } from '../../index.js';

/** Before the fields of a generation that is staged. */
export const PENDING = 'pending.';

/** What the hash `meta` holds, whether or not it is one of this format. */
export type RawMeta<Stored> =
  | { readonly kind: 'missing' }
  /** Metadata of another format, which a reader leaves alone. */
  | { readonly kind: 'other'; readonly found: string }
  /** Edited, damaged, or of another type. `tag` stands in place of the name of the live generation. */
  | { readonly kind: 'nonsense'; readonly tag: string; readonly fault: string }
  | Meta<Stored>;

export interface Meta<Stored> {
  readonly kind: 'known';
  readonly state: BloomFilterState;
  /** Present if and only if the state is `ready`. */
  readonly live: Stored | undefined;
  readonly staging: Stored | undefined;
  /** The server on which the live generation was made. */
  readonly runId: string;
  /** Else the last build's numbers are 0. */
  readonly areCountsPlausible: boolean;
  readonly builds: number;
  readonly ids: number;
  readonly capacity: number;
  readonly errorRate: number;
  readonly builtAt: Date | undefined;
  /** All fields, for those of one format alone. */
  readonly fields: MetaFields;
}

/** How one format stores generations. */
export interface MetaFormat<Stored> {
  readonly format: string;
  /** The field that names the live generation. */
  readonly tagField: string;
  /** The numbers that `countsSum` is over. */
  readonly counts: readonly string[];
  /** The generation whose fields stand under a prefix; undefined when there are none. */
  generationOf(fields: MetaFields, prefix: '' | typeof PENDING): Stored | 'nonsense' | undefined;
  /** What `countsSum` begins with: it names the build. */
  buildOf(generation: Stored): string;
  /** What makes no sense in the fields of this format alone. */
  faultIn?(fields: MetaFields): string | undefined;
}

const STATES: readonly string[] = ['unbuilt', 'ready', 'lost', 'suspect'] satisfies BloomFilterState[];

/** The fields of the hash `meta`. */
export class MetaFields {
  private readonly values = new Map<string, string>();

  /** @param pairs names and values in turn */
  constructor(pairs: readonly string[]) {
    for (let i = 0; i + 1 < pairs.length; i += 2) this.values.set(pairs[i]!, pairs[i + 1]!);
  }

  get(field: string): string | undefined {
    return this.values.get(field);
  }

  /** A count: 0 if the field is missing, -1 if malformed. */
  count(field: string): number {
    const text = this.values.get(field) ?? '0';
    return /^\d{1,15}$/.test(text) ? Number(text) : -1;
  }
}

/** Reads the reply of the script `describe`. */
export function parseMeta<Stored>(
  form: MetaFormat<Stored>,
  type: string,
  pairs: readonly string[],
): RawMeta<Stored> {
  if (type === 'none') return { kind: 'missing' };
  if (type !== 'hash') return { kind: 'nonsense', tag: '', fault: `it is a ${type}` };
  const fields = new MetaFields(pairs);
  const format = fields.get('format') ?? '';
  if (/^[1-9]\d{0,8}$/.test(format) && format !== form.format) return { kind: 'other', found: format };
  const tag = fields.get(form.tagField) ?? '';
  const nonsense = (fault: string): RawMeta<Stored> => ({ kind: 'nonsense', tag, fault });
  if (format !== form.format) return nonsense(`format is '${format}'`);
  const state = fields.get('state') ?? '';
  if (!STATES.includes(state)) return nonsense(`state is '${state}'`);
  const live = form.generationOf(fields, '');
  if (live === 'nonsense' || (live !== undefined) !== (state === 'ready')) {
    return nonsense('the live generation');
  }
  const staging = form.generationOf(fields, PENDING);
  if (staging === 'nonsense') return nonsense('the staged generation');
  const fault = form.faultIn?.(fields);
  if (fault !== undefined) return nonsense(fault);
  const [ids, capacity, builtAt] = [fields.count('ids'), fields.count('capacity'), fields.count('builtAt')];
  const arePlausible =
    Math.min(ids, capacity, builtAt) >= 0 &&
    areCountsPlausible(fields, live && form.buildOf(live), form.counts);
  return {
    kind: 'known',
    state: state as BloomFilterState,
    live,
    staging,
    runId: fields.get('runId') ?? '',
    areCountsPlausible: arePlausible,
    builds: Math.max(0, fields.count('builds')),
    ids: arePlausible ? ids : 0,
    capacity: arePlausible ? capacity : 0,
    errorRate: Number(fields.get('errorRate') ?? 0) || 0,
    builtAt: builtAt > 0 ? new Date(builtAt) : undefined,
    fields,
  };
}

/** What one process knows of a filter, from one reading of its metadata. */
export interface MetadataSnapshot<Stored = unknown> extends MetadataReading {
  /** What answers; undefined unless the filter is ready. */
  readonly live: { readonly generation: Stored } | undefined;
  /** What a rebuild is about to make live, and every add is written to as well. */
  readonly staging: { readonly generation: Stored } | undefined;
  /** Without what has to be measured. */
  readonly description: Omit<FilterDescription, 'count' | 'shape'>;
  /** Whether the hash `meta` was there. */
  readonly stored: boolean;
  /** What is left out above, since processes made it that have other ids, or spell them otherwise. */
  readonly others?: OthersGenerations | undefined;
}

export interface OthersGenerations {
  /** Why this process does not use the live generation; undefined where it does. */
  readonly reason: string | undefined;
  /** Token of the staged generation that no add of this process is written to. */
  readonly staging: string | undefined;
  /** With all that the metadata name. */
  readonly asStored: MetadataSnapshot;
}

/** Which server was read, and when. */
export interface MetadataReading {
  /** As the connection named it when the reading was begun. */
  readonly server: string;
  /** Empty when the server may not be asked. */
  readonly runId: string;
  readonly readAt: number;
}

/** What metadata of any format say, or that there are none. */
export function describeMeta(
  meta: Meta<unknown> | undefined,
  { runId, server, readAt }: MetadataReading,
): Omit<MetadataSnapshot, 'live' | 'staging'> {
  return {
    runId,
    server,
    readAt,
    stored: meta !== undefined,
    description: {
      state: meta?.state ?? 'unbuilt',
      builds: meta?.builds ?? 0,
      builtIds: meta?.ids ?? 0,
      capacity: meta?.capacity ?? 0,
      errorRate: meta?.errorRate ?? 0,
      builtAt: meta?.builtAt,
      rebuilding: meta?.staging !== undefined,
    },
  };
}

/** The field that says whether the counts beside it are those that were written with a generation. */
export function countsSumField(generation: string, counts: readonly (string | number)[]): [string, string] {
  return ['countsSum', countsSum(generation, counts)];
}

/**
 * Whether counts may be planned by. An older version writes no sum, and leaves that of another generation:
 * then they stand as they are.
 *
 * @param generation that is live; undefined: none.
 */
export function areCountsPlausible(
  meta: Pick<ReadonlyMap<string, string>, 'get'>,
  generation: string | undefined,
  fields: readonly string[],
): boolean {
  const sum = meta.get('countsSum');
  if (sum === undefined) return true;
  const [summed = ''] = sum.split(' ');
  if (generation !== undefined && generation !== summed) return true;
  const counts = fields.map((field) => meta.get(field) ?? '');
  return sum === countsSum(summed, counts);
}

function countsSum(generation: string, counts: readonly (string | number)[]): string {
  const digest = createHash('sha1')
    .update([generation, ...counts].join(' '))
    .digest('hex');
  return `${generation} ${digest.slice(0, 16)}`;
}
