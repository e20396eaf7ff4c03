import type { FilterContents } from '../../index.js';
import {
  BUILT_WITHOUT_SPELLING,
  OF_EARLIER_EPOCH,
  otherRows,
  SPELLED_OTHERWISE,
} from './protocol.messages.js';
import { type MetaFields, PENDING } from './stored-meta.js';

/**
 * The field names the build too: metadata that an older version has written keep the contents of an earlier
 * one.
 */
const CONTENTS = 'contents';

/** What a generation holds, and what a process would build. */
export interface StoredContents extends FilterContents {
  /**
   * The epoch of a partitioned filter; '' for a process that may build nothing in the present one. Undefined:
   * generations have none.
   */
  readonly epoch: string | undefined;
}

/** The field of a staged generation, and its value. */
export function pendingContents(build: string, contents: StoredContents): [string, string] {
  return [PENDING + CONTENTS, contentsText(build, contents)];
}

/** The value of the field of a live generation. */
export function contentsText(build: string, { spelling, rows = '', epoch }: StoredContents): string {
  return `${build} ${spelling}${epoch === undefined ? '' : `@${epoch}`} ${rows}`;
}

/** The contents of a build; undefined where the metadata do not say. */
export function contentsOf(
  fields: MetaFields,
  prefix: '' | typeof PENDING,
  build: string,
): StoredContents | undefined {
  const [named, spelled = '', ...rows] = (fields.get(prefix + CONTENTS) ?? '').split(' ');
  const [spelling, epoch] = spelled.split('@');
  return named === build && spelling ? { spelling, epoch, rows: rows.join(' ') || undefined } : undefined;
}

/** What makes a generation another one than this process would build; undefined where nothing does. */
export function differenceOf(own: StoredContents, found: StoredContents | undefined): string | undefined {
  if (!found) return BUILT_WITHOUT_SPELLING;
  if (own.spelling !== found.spelling) return SPELLED_OTHERWISE;
  if (own.rows !== undefined && found.rows !== undefined && own.rows !== found.rows)
    return otherRows(own.rows, found.rows);
  return own.epoch === '' || own.epoch !== found.epoch ? OF_EARLIER_EPOCH : undefined;
}
