import { createHash } from 'node:crypto';
import {
  BLOCK_DATA_BITS,
  BLOCKED_LAYOUT,
  EXACT_LAYOUT,
  type Generation,
  type GenerationRange,
  MAX_BLOCKS,
  MAX_ID_BYTES_LIMIT,
} from '../../../filter/index.js';
import type { CopyableDescription } from '../../index.js';
import {
  type MetadataSnapshot,
  countsSumField,
  type MetaFields,
  type MetaFormat,
  parseMeta,
  type RawMeta,
} from '../meta/stored-meta.js';
import { EXACT_FORMAT, LEASED_FORMAT, partsFormat } from '../meta/redis-keys.js';
import { type SegmentedGeneration, tagText } from '../staging/segments.js';
import { NegativeCacheTable } from './negative-cache-table.js';

/** Version of the stored form. A reader leaves a filter of a higher one alone. */
export const FORMAT = '1';
/** Prefix of the tag: scripts of processes that know nothing of the leases find another generation. */
const LEASED_PREFIX = 'L';
/** A lease that is not known counts as one of this length. In milliseconds. */
const LONGEST_LEASE_MS = 60_000;

const COUNTS = ['ids', 'capacity', 'errorRate', 'builtAt'] as const;

/** Format 1. */
const BLOCKED_FORM: MetaFormat<Generation> = {
  format: FORMAT,
  tagField: 'tag',
  counts: COUNTS,
  generationOf,
  buildOf: tagText,
  faultIn: (fields) =>
    negativeCacheIn(fields) === 'nonsense' ? 'the table of the negative cache' : undefined,
};

/** Format 4: adds have to wait for readers. */
const LEASED_FORM: MetaFormat<Generation> = {
  ...BLOCKED_FORM,
  format: LEASED_FORMAT,
  generationOf: (fields, prefix) => (prefix === '' ? leasedGeneration(fields) : generationOf(fields, prefix)),
};

/** Format 5: as format 1 or 4, by the tag. */
const EXACT_FORM: MetaFormat<Generation> = {
  ...BLOCKED_FORM,
  format: EXACT_FORMAT,
  generationOf: (fields, prefix) =>
    prefix === '' && isLeased(fields) ? leasedGeneration(fields) : generationOf(fields, prefix),
};

/** The format of a filter with this live generation. An older version leaves one of format 5 alone. */
export function formatOf({ range }: Generation, storedTag: string): string {
  if (range) return EXACT_FORMAT;
  return storedTag.startsWith(LEASED_PREFIX) ? LEASED_FORMAT : FORMAT;
}

/** The stored forms of a filter. Its first one is written anew; a part of a filter has no other one. */
export type BlockedForms = readonly [MetaFormat<Generation>, ...MetaFormat<Generation>[]];

/** @param parts of the filter, if it is one of its parts. */
export function blockedForms(parts?: number): BlockedForms {
  if (parts === undefined) return [BLOCKED_FORM, LEASED_FORM, EXACT_FORM];
  return [{ ...BLOCKED_FORM, format: partsFormat(parts) }];
}

/** Reads the reply of the script `describe` for a filter of layout `blocked`. */
export function parseBlocked(
  forms: BlockedForms,
  type: string,
  pairs: readonly string[],
): RawMeta<Generation> {
  const format = pairs.find((_, i) => i % 2 === 1 && pairs[i - 1] === 'format');
  return parseMeta(forms.find((form) => form.format === format) ?? forms[0], type, pairs);
}

function isLeased(fields: MetaFields): boolean {
  return (fields.get('tag') ?? '').startsWith(LEASED_PREFIX);
}

function leasedGeneration(fields: MetaFields): Generation | 'nonsense' | undefined {
  const text = fields.get('tag') ?? '';
  if (!text.startsWith(LEASED_PREFIX)) return 'nonsense';
  return text === LEASED_PREFIX ? undefined : generationOf(fields, '', plainTag(text));
}

/** A stored tag without what says that the filter is read with leases. */
export function plainTag(text: string): string {
  return text.startsWith(LEASED_PREFIX) ? text.slice(LEASED_PREFIX.length) : text;
}

/** Longest lease of a process that answers from a copy; undefined when the metadata know of none. */
export function leasesMsIn(fields: MetaFields): number | undefined {
  if (!isLeased(fields)) return undefined;
  const ms = fields.count('leases.ms');
  return ms >= 1 && ms <= LONGEST_LEASE_MS ? ms : LONGEST_LEASE_MS;
}

/** What one process knows of a filter of layout `blocked`. */
export interface BlockedSnapshot extends MetadataSnapshot<Generation> {
  readonly description: CopyableDescription;
  readonly live: SegmentedGeneration | undefined;
  readonly staging: SegmentedGeneration | undefined;
  /** The tag in the metadata, with a prefix where the filter is read with leases; '' for none. */
  readonly storedTag: string;
  /** Longest lease of a process that answers from a copy, in milliseconds; undefined: none does. */
  readonly leasesMs: number | undefined;
  /** Until when a lease may run that the metadata do not know of, by `performance.now()`; 0: none. */
  readonly unseenUntil: number;
  /** The table of the negative cache that adds have to mark. */
  readonly negativeCache: NegativeCacheTable | undefined;
}

/** The table of the negative cache that adds have to mark. */
export function negativeCacheIn(fields: MetaFields): NegativeCacheTable | 'nonsense' | undefined {
  const text = fields.get('denials');
  return text === undefined ? undefined : (NegativeCacheTable.parse(text) ?? 'nonsense');
}

/** The numbers that the next build is planned by, as they are written with a generation. */
export interface BuildCounts {
  readonly ids: number;
  readonly capacity: number;
  readonly errorRate: number;
  readonly builtAt: number;
}

/** Says by which counts the next build may be planned. */
export function buildCountsSum(generation: Generation, counts: BuildCounts): [string, string] {
  return countsSumField(
    tagText(generation),
    COUNTS.map((field) => counts[field]),
  );
}

/** The fields of a generation, under `prefix`. */
export function generationFields(generation: Generation, prefix = ''): (string | number)[] {
  const { layout, key, blocks, hashCount, maxIdBytes, range } = generation;
  const fields = {
    layout,
    tag: tagText(generation),
    key: key.map(hexadecimal).join(''),
    blocks,
    hashCount,
    maxIdBytes,
    ...(range && { range: rangeText(range) }),
    sum: sumOf(generation),
  };
  return Object.entries(fields).flatMap(([name, value]) => [prefix + name, value]);
}

function generationOf(
  fields: MetaFields,
  prefix: string,
  tag = fields.get(`${prefix}tag`),
): Generation | 'nonsense' | undefined {
  if (tag === undefined) return undefined;
  const key = fields.get(`${prefix}key`) ?? '';
  const layout = fields.count(`${prefix}layout`);
  const blocks = fields.count(`${prefix}blocks`);
  const hashCount = fields.count(`${prefix}hashCount`);
  const maxIdBytes = fields.count(`${prefix}maxIdBytes`);
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
  const range = layout === EXACT_LAYOUT ? rangeIn(fields.get(`${prefix}range`), blocks) : undefined;
  if (!sound || (layout !== BLOCKED_LAYOUT && !range)) return 'nonsense';
  const generation: Generation = {
    layout: range ? EXACT_LAYOUT : BLOCKED_LAYOUT,
    tag: Number.parseInt(tag, 16),
    key: [Number.parseInt(key.slice(0, 8), 16), Number.parseInt(key.slice(8), 16)],
    blocks,
    hashCount,
    maxIdBytes,
    ...(range && { range }),
  };
  return fields.get(`${prefix}sum`) === sumOf(generation) ? generation : 'nonsense';
}

/** A changed number would look for ids in wrong places, in blocks whose tag is right. */
function sumOf({ layout, tag, key, blocks, hashCount, maxIdBytes, range }: Generation): string {
  const ofRange = range ? [rangeText(range)] : [];
  const text = [layout, tag, ...key, blocks, hashCount, maxIdBytes, ...ofRange].join(' ');
  return createHash('sha1').update(text).digest('hex').slice(0, 16);
}

function rangeText({ first, blocks }: GenerationRange): string {
  return `${first} ${blocks}`;
}

/** Undefined for a text that no generation of so many blocks has. */
function rangeIn(text = '', all: number): GenerationRange | undefined {
  const [first, blocks] = text.split(' ').map(Number);
  const range = { first: first!, blocks: blocks! };
  const isSound =
    Number.isSafeInteger(first) &&
    Number.isSafeInteger(blocks) &&
    blocks! >= 1 &&
    blocks! < all &&
    Number.isSafeInteger(first! + blocks! * BLOCK_DATA_BITS - 1);
  return isSound && rangeText(range) === text ? range : undefined;
}

function hexadecimal(value: number): string {
  return value.toString(16).padStart(8, '0');
}
