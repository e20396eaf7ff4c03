import { createHash } from 'node:crypto';
import type { BloomFilterState } from '../../../common/index.js';
import { BLOCKED_LAYOUT, type Generation, MAX_BLOCKS, MAX_ID_BYTES_LIMIT } from '../../../filter/index.js';
import { areCountsBelieved, countsSumField } from '../protocol/counts-sum.js';
import { tagText } from '../protocol/segments/segments.js';
import { NegativeCacheTable } from './negative-cache/negative-cache-table.js';

/** Version of the stored form. A reader leaves a filter of a higher one alone. */
export const FORMAT = '1';

/** What the hash `meta` says. */
export type FilterMeta =
  | { readonly kind: 'missing' }
  | { readonly kind: 'newer'; readonly found: string }
  /** Edited, damaged, or of another type. `tag` is what stands in its place, for comparison. */
  | { readonly kind: 'nonsense'; readonly tag: string; readonly fault: string }
  | KnownMeta;

export interface KnownMeta {
  readonly kind: 'known';
  readonly state: BloomFilterState;
  /** Present if and only if the state is `ready`. */
  readonly live: (Generation & { readonly runId: string }) | undefined;
  readonly pending: (Generation & { readonly token: string }) | undefined;
  /** The table of denials that adds have to mark. */
  readonly denials: NegativeCacheTable | undefined;
  /** Else the last build's numbers are 0. */
  readonly areCountsBelieved: boolean;
  readonly builds: number;
  readonly count: number;
  readonly ids: number;
  readonly capacity: number;
  readonly errorRate: number;
  readonly builtAt: Date | undefined;
}

const STATES: readonly string[] = ['unbuilt', 'ready', 'lost', 'suspect'] satisfies BloomFilterState[];

/** Reads the reply of the script `describe` without its first element. */
export function parseMeta(type: string, fields: readonly string[]): FilterMeta {
  if (type === 'none') return { kind: 'missing' };
  if (type !== 'hash') return { kind: 'nonsense', tag: '', fault: `it is a ${type}` };
  const meta = new Map<string, string>();
  for (let i = 0; i + 1 < fields.length; i += 2) meta.set(fields[i]!, fields[i + 1]!);

  const format = meta.get('format') ?? '';
  if (/^\d{1,9}$/.test(format) && Number(format) > Number(FORMAT)) return { kind: 'newer', found: format };
  const tag = meta.get('tag') ?? '';
  const nonsense = (fault: string): FilterMeta => ({ kind: 'nonsense', tag, fault });
  if (format !== FORMAT) return nonsense(`format is '${format}'`);

  const state = meta.get('state') ?? '';
  if (!STATES.includes(state)) return nonsense(`state is '${state}'`);
  const live = generationOf(meta, '');
  if (live === 'nonsense' || (live !== undefined) !== (state === 'ready'))
    return nonsense('the live generation');
  const pending = generationOf(meta, 'pending.');
  if (pending === 'nonsense') return nonsense('the staged generation');
  const denialText = meta.get('denials');
  const denials = denialText === undefined ? undefined : NegativeCacheTable.parse(denialText);
  if (denialText !== undefined && !denials) return nonsense('the table of denials');

  const counts = {
    builds: countOf(meta, 'builds'),
    count: countOf(meta, 'count'),
    ids: countOf(meta, 'ids'),
    capacity: countOf(meta, 'capacity'),
    builtAt: countOf(meta, 'builtAt'),
  };
  const areBelieved =
    areCountsBelieved(meta, meta.get('tag'), COUNTS) &&
    Math.min(counts.ids, counts.capacity, counts.builtAt) >= 0;
  return {
    kind: 'known',
    areCountsBelieved: areBelieved,
    state: state as BloomFilterState,
    live: live && { ...live, runId: meta.get('runId') ?? '' },
    pending: pending && { ...pending, token: meta.get('pending.token') ?? '' },
    denials,
    builds: Math.max(0, counts.builds),
    count: counts.count >= 0 ? counts.count : 0,
    ids: areBelieved ? Math.max(0, counts.ids) : 0,
    capacity: areBelieved ? Math.max(0, counts.capacity) : 0,
    errorRate: Number(meta.get('errorRate') ?? 0) || 0,
    builtAt: counts.builtAt > 0 ? new Date(counts.builtAt) : undefined,
  };
}

/** The numbers that the next build is planned by, as they are written with a generation. */
export interface BuildCounts {
  readonly ids: number;
  readonly capacity: number;
  readonly errorRate: number;
  readonly builtAt: number;
}

const COUNTS = ['ids', 'capacity', 'errorRate', 'builtAt'] as const;

/** Says by which counts the next build may be planned. */
export function buildCountsSum(generation: Generation, counts: BuildCounts): [string, string] {
  return countsSumField(
    tagText(generation),
    COUNTS.map((field) => counts[field]),
  );
}

/** The fields of a generation, under `prefix`. */
export function generationFields(generation: Generation, prefix = ''): (string | number)[] {
  const { layout, key, blocks, hashCount, maxIdBytes } = generation;
  const fields = {
    layout,
    tag: tagText(generation),
    key: key.map(hexadecimal).join(''),
    blocks,
    hashCount,
    maxIdBytes,
    sum: sumOf(generation),
  };
  return Object.entries(fields).flatMap(([name, value]) => [prefix + name, value]);
}

function generationOf(meta: Map<string, string>, prefix: string): Generation | 'nonsense' | undefined {
  const tag = meta.get(`${prefix}tag`);
  if (tag === undefined) return undefined;
  const key = meta.get(`${prefix}key`) ?? '';
  const layout = countOf(meta, `${prefix}layout`);
  const blocks = countOf(meta, `${prefix}blocks`);
  const hashCount = countOf(meta, `${prefix}hashCount`);
  const maxIdBytes = countOf(meta, `${prefix}maxIdBytes`);
  const sound =
    /^[0-9a-f]{8}$/.test(tag) &&
    tag !== '00000000' &&
    /^[0-9a-f]{16}$/.test(key) &&
    blocks >= 1 &&
    blocks <= MAX_BLOCKS &&
    hashCount >= 1 &&
    hashCount <= 64 &&
    maxIdBytes >= 1 &&
    maxIdBytes <= MAX_ID_BYTES_LIMIT;
  if (!sound || layout !== BLOCKED_LAYOUT) return 'nonsense';
  const generation: Generation = {
    layout: BLOCKED_LAYOUT,
    tag: Number.parseInt(tag, 16),
    key: [Number.parseInt(key.slice(0, 8), 16), Number.parseInt(key.slice(8), 16)],
    blocks,
    hashCount,
    maxIdBytes,
  };
  return meta.get(`${prefix}sum`) === sumOf(generation) ? generation : 'nonsense';
}

/** Any other number in a generation's place would look for ids where they are not, in blocks whose tag is right. */
function sumOf({ layout, tag, key, blocks, hashCount, maxIdBytes }: Generation): string {
  const text = [layout, tag, ...key, blocks, hashCount, maxIdBytes].join(' ');
  return createHash('sha1').update(text).digest('hex').slice(0, 16);
}

/** Parses a count: 0 if the field is missing, -1 if malformed. */
function countOf(meta: Map<string, string>, field: string): number {
  const text = meta.get(field) ?? '0';
  return /^\d{1,15}$/.test(text) ? Number(text) : -1;
}

function hexadecimal(value: number): string {
  return value.toString(16).padStart(8, '0');
}
