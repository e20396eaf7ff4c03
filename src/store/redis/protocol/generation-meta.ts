import { createHash } from 'node:crypto';
import type { BloomFilterState } from '../../../common/index.js';
import { LAYOUT_NUMBERS } from '../../../filter/index.js';
import { areCountsBelieved, countsSumField } from './counts-sum.js';

/** Version of the stored form; 1 is that of a single generation of layout `blocked`. A reader leaves a filter of another one alone. */
export const GENERATION_FORMAT = '2';

/** One build of a filter, as its metadata describe it. */
export interface StoredGeneration {
  /** Random; names the generation, and its keys while it is staged. */
  readonly token: string;
  /** Everything that decides where an id is, as a text of the driver. */
  readonly settings: string;
  /** What was put into the filter to know it again, as a text of the driver. */
  readonly canaries: string;
}

/** What the hash `meta` says. */
export type GenerationMeta =
  | { readonly kind: 'missing' }
  | { readonly kind: 'other'; readonly found: string }
  /** Edited, damaged, or of another type. `token` is what stands in its place, for comparison. */
  | { readonly kind: 'nonsense'; readonly token: string; readonly fault: string }
  | KnownCompanionMeta;

export interface KnownCompanionMeta {
  readonly kind: 'known';
  readonly state: BloomFilterState;
  /** Present if and only if the state is `ready`. */
  readonly live: StoredGeneration | undefined;
  /** The server on which the live generation was made. */
  readonly runId: string;
  readonly pending: StoredGeneration | undefined;
  /** Else the last build's numbers are 0. */
  readonly areCountsBelieved: boolean;
  readonly builds: number;
  readonly ids: number;
  readonly capacity: number;
  readonly errorRate: number;
  readonly builtAt: Date | undefined;
}

const STATES: readonly string[] = ['unbuilt', 'ready', 'lost', 'suspect'] satisfies BloomFilterState[];
const GENERATION_FIELDS = ['token', 'settings', 'canaries', 'sum'] as const;

/** Reads the reply of the script `describe` without its first elements. */
export function parseGenerationMeta(type: string, fields: readonly string[], layout: number): GenerationMeta {
  if (type === 'none') return { kind: 'missing' };
  if (type !== 'hash') return { kind: 'nonsense', token: '', fault: `it is a ${type}` };
  const meta = new Map<string, string>();
  for (let i = 0; i + 1 < fields.length; i += 2) meta.set(fields[i]!, fields[i + 1]!);

  const format = meta.get('format') ?? '';
  if (/^[1-9]\d{0,8}$/.test(format) && format !== GENERATION_FORMAT) return { kind: 'other', found: format };
  const token = meta.get('token') ?? '';
  const nonsense = (fault: string): GenerationMeta => ({ kind: 'nonsense', token, fault });
  if (format !== GENERATION_FORMAT) return nonsense(`format is '${format}'`);
  const state = meta.get('state') ?? '';
  if (!STATES.includes(state)) return nonsense(`state is '${state}'`);
  const live = generationOf(meta, '', layout);
  if (live === 'nonsense' || (live !== undefined) !== (state === 'ready')) {
    return nonsense('the live generation');
  }
  const pending = generationOf(meta, 'pending.', layout);
  if (pending === 'nonsense') return nonsense('the staged generation');
  const counts = { builds: countOf(meta, 'builds'), ids: countOf(meta, 'ids') };
  const [capacity, builtAt] = [countOf(meta, 'capacity'), countOf(meta, 'builtAt')];
  const areBelieved =
    Math.min(counts.builds, counts.ids, capacity, builtAt) >= 0 &&
    areCountsBelieved(meta, live && originText(live), countFields(layout));
  return {
    kind: 'known',
    areCountsBelieved: areBelieved,
    builds: Math.max(0, counts.builds),
    ids: areBelieved ? counts.ids : 0,
    state: state as BloomFilterState,
    live,
    runId: meta.get('runId') ?? '',
    pending,
    capacity: areBelieved ? capacity : 0,
    errorRate: Number(meta.get('errorRate') ?? 0) || 0,
    builtAt: builtAt > 0 ? new Date(builtAt) : undefined,
  };
}

/** The fields of a generation and their values, under `prefix`. */
export function generationFields(generation: StoredGeneration, layout: number, prefix = ''): string[] {
  const values = { ...generation, sum: sumOf(generation, layout) };
  return GENERATION_FIELDS.flatMap((field) => [prefix + field, values[field]]);
}

/** The fields of a generation that goes live and their values, with others such as `capacity`. */
export function liveFields(
  generation: StoredGeneration,
  layout: number,
  values: Readonly<Record<string, string | number>>,
): (string | number)[] {
  const others: Record<string, string | number> = {
    format: GENERATION_FORMAT,
    builtAt: Date.now(),
    ...values,
  };
  const counts = countFields(layout).map((field) => others[field] ?? '');
  // What is taken as others have left it was not counted.
  const sum = 'ids' in others ? countsSumField(originText(generation), counts) : [];
  return [...Object.entries(others).flat(), ...sum, ...generationFields(generation, layout)];
}

/** Of a filter that grows the settings say the capacity, under their own sum. */
function countFields(layout: number): readonly string[] {
  return layout === LAYOUT_NUMBERS.blocked
    ? ['ids', 'errorRate', 'builtAt']
    : ['ids', 'capacity', 'errorRate', 'builtAt'];
}

/** The build; a further layer leaves it as it is. */
function originText({ token }: Pick<StoredGeneration, 'token'>): string {
  return token.split('+')[0]!;
}

function generationOf(
  meta: ReadonlyMap<string, string>,
  prefix: string,
  layout: number,
): StoredGeneration | 'nonsense' | undefined {
  const token = meta.get(`${prefix}token`);
  if (token === undefined) return undefined;
  const settings = meta.get(`${prefix}settings`) ?? '';
  const canaries = meta.get(`${prefix}canaries`) ?? '';
  const generation = { token, settings, canaries };
  const isSound = token !== '' && meta.get(`${prefix}sum`) === sumOf(generation, layout);
  return isSound ? generation : 'nonsense';
}

/** Other settings, or the canaries of another generation, would look for ids where they are not. */
function sumOf({ token, settings, canaries }: StoredGeneration, layout: number): string {
  const text = JSON.stringify([layout, token, settings, canaries]);
  return createHash('sha1').update(text).digest('hex').slice(0, 16);
}

/** A count, or -1 for what is none; 0 when the field is not there. */
function countOf(meta: ReadonlyMap<string, string>, field: string): number {
  const text = meta.get(field) ?? '0';
  return /^\d{1,15}$/.test(text) ? Number(text) : -1;
}
