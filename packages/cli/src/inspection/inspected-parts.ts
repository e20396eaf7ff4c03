import { partOf } from 'nestjs-bloom/internal';
import { withCode } from '../cli-error.js';
import type { IdKey } from 'nestjs-bloom/filter';
import {
  type FilterInspection,
  FilterInspector,
  type InspectedVerdict,
  type InspectorOptions,
} from './filter-inspector.js';

/** One part of a filter, or why it could not be looked at. */
export type InspectedPart =
  | { readonly part: number; readonly found: FilterInspection }
  | { readonly part: number; readonly error: string };

/** What Redis holds of a filter, and of all its parts if it is divided. */
export interface InspectedFilter {
  /** The first part of a divided filter; its metadata name the number of parts. */
  readonly found: FilterInspection;
  /** Undefined of a filter that is not divided. */
  readonly parts: readonly InspectedPart[] | undefined;
}

/**
 * @param walkMs longest time for the walks over the keys of the servers; 0: none.
 * @throws {BloomUnavailableError} when the server of the metadata cannot be asked.
 */
export async function inspectFilter(
  options: InspectorOptions,
  { walkMs }: { readonly walkMs: number },
): Promise<InspectedFilter> {
  const found = await new FilterInspector(options).inspect({ walkMs });
  const { partitions: of } = found;
  if (of === undefined) return { found, parts: undefined };
  const parts: InspectedPart[] = [{ part: 0, found }];
  for (let index = 1; index < of; index++) {
    const inspector = new FilterInspector({ ...options, part: { index, of } });
    const inspected = inspector.inspect({ walkMs: walkMs / of }).then(
      (one): InspectedPart => ({ part: index, found: one }),
      (error: unknown): InspectedPart => ({ part: index, error: withCode(error) }),
    );
    parts.push(await inspected);
  }
  return { found, parts };
}

/**
 * What a process of an application would answer that has not read the metadata of the filter yet.
 *
 * @throws {BloomUnavailableError} when the server cannot be asked.
 */
export async function checkFilter(options: InspectorOptions, id: IdKey): Promise<InspectedVerdict> {
  const whole = new FilterInspector(options);
  const { partitions: of } = await whole.inspect({ walkMs: 0 });
  if (of === undefined) return whole.check(id);
  const index = partOf(id, of);
  const { verdict, reason } = await new FilterInspector({ ...options, part: { index, of } }).check(id);
  return { verdict, reason: `Part ${index} of ${of}. ${reason}` };
}
