import { printed } from '../../common/index.js';
import type { BloomId } from '../../filter/index.js';

export const notAMark = (got: unknown) =>
  `Expected idsSince of the source to give { ids, mark } with a mark that is a text, a safe integer, a bigint or a Date, got ${printed(got)}.`;

export const orderedByMarks = () =>
  'Expected idsSince of the source to give plain ids, since topUp.ordered says that ids are in its order, got { ids, mark }. Leave the marks out, or leave topUp.ordered out.';

export const notOfOrder = (id: BloomId, since: unknown) =>
  `Expected idsSince of the source to give ids of the same kind as the mark, ${printed(since)}, got ${printed(id)}. Give { ids, mark } where the order is not that of the ids, ` +
  "or set topUp.order to 'text' where ids are texts of which some are digits alone.";

export const notAscending = (before: string, id: BloomId, order: string) =>
  `Expected idsSince of the source to give ids in ascending order, compared as ${order === 'integer' ? 'integers' : 'texts by their code points'}, got ${printed(id)} after ` +
  `${printed(before)}. Sort the query by the id (texts by code points, such as collate "C"), set topUp.order, or give { ids, mark }.`;

export const markNotRead = (mark: string) =>
  `Expected the stored mark to be one that this version and these options can read, got ${printed(mark)}.`;

export const markWentBack = (mark: string, newest: string | undefined) =>
  newest === undefined
    ? `The source has no row any more, and the mark is ${printed(mark)}.`
    : `The newest row of the source is ${printed(newest)}, which comes before the mark, ${printed(mark)}: rows were deleted, or ids are given out a second time.`;

export const rowsMissing = (found: {
  readonly mark: string;
  readonly missing: readonly string[];
  readonly asked: number;
}) =>
  `Of ${found.asked} rows up to the mark, ${printed(found.mark)}, the filter lacked ${found.missing.length}, ${printed(found.missing[0])} among them: they became visible after the mark had passed them. ` +
  'Look for rows that are far ahead of the others in the order, such as one with a sentinel for its id, for ids below the last ones that were given out later, and for transactions that are longer than overlapMs. ' +
  'Remove or renumber such rows, or leave topUp.ordered out, then call rebuild(): no id counts as absent until a later rebuild finds all rows up to its mark.';

export const noIdsSince = (filter: string) =>
  `Filter '${filter}': expected the source to have a method idsSince(mark), since topUp is set. Sources of this package have it with their option order. ` +
  'Several that are read together have it with the option newRows of inParallel, a source of whose order all their rows are: their own marks are not those of one order.';

export const NOT_HOLDER = 'Another process follows the feed by now.';
