import { createHash } from 'node:crypto';
import { BLOCKED_LAYOUT } from 'nestjs-bloom/filter';
import { countsSumField, type MetaFields, type MetaFormat } from 'nestjs-bloom/internal';

/**
 * Version of the stored form; 1 is that of a single generation of layout `blocked`. A reader leaves a filter
 * of another one alone.
 */
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

const GENERATION_FIELDS = ['token', 'settings', 'canaries', 'sum'] as const;

/** @param layout its number, which is part of the checksum over a generation */
export function generationForm(layout: number): MetaFormat<StoredGeneration> {
  return {
    format: GENERATION_FORMAT,
    tagField: 'token',
    counts: countFields(layout),
    generationOf: (fields, prefix) => generationOf(fields, prefix, layout),
    buildOf: originText,
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

/** The settings of a filter that grows say the capacity, under their own sum. */
function countFields(layout: number): readonly string[] {
  return layout === BLOCKED_LAYOUT
    ? ['ids', 'errorRate', 'builtAt']
    : ['ids', 'capacity', 'errorRate', 'builtAt'];
}

/** The build; a further layer leaves it as it is. */
function originText({ token }: Pick<StoredGeneration, 'token'>): string {
  return token.split('+')[0]!;
}

function generationOf(
  fields: MetaFields,
  prefix: string,
  layout: number,
): StoredGeneration | 'nonsense' | undefined {
  const token = fields.get(`${prefix}token`);
  if (token === undefined) return undefined;
  const settings = fields.get(`${prefix}settings`) ?? '';
  const canaries = fields.get(`${prefix}canaries`) ?? '';
  const generation = { token, settings, canaries };
  const isSound = token !== '' && fields.get(`${prefix}sum`) === sumOf(generation, layout);
  return isSound ? generation : 'nonsense';
}

/** Other settings, or the canaries of another generation, would look for ids where they are not. */
function sumOf({ token, settings, canaries }: StoredGeneration, layout: number): string {
  const text = JSON.stringify([layout, token, settings, canaries]);
  return createHash('sha1').update(text).digest('hex').slice(0, 16);
}
