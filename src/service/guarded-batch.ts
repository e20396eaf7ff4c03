import { BloomConfigError, type BloomEventListener, BloomIdError } from '../common/index.js';
import { type BloomId, type IdKey, idNote, scopedBy, scopeOfUnscoped, toIdKey } from '../filter/index.js';
import { type LookupOutcome, verdictOf } from '../store/index.js';
import type { BloomBatchOptions, GuardableFilter } from './bloom-filter.js';
import type { CountedMethod } from './filter-counts.js';
import { BloomOverloadError } from './overload-error.js';
import { rowOfNoId, rowsOutOfPlace } from './service.messages.js';

/** A batch that is guarded, and its filter: undefined where it is not registered. */
export interface GuardedBatch extends CountedMethod {
  readonly filter: GuardableFilter | undefined;
  readonly name: string;
  readonly emit: BloomEventListener;
  /** Puts an id into the scope of the batch; undefined for ids that have theirs, or have none. */
  readonly inScope?: ((id: unknown) => unknown) | undefined;
}

/** An id of a batch, and what is known of it. */
interface Asked {
  readonly id: unknown;
  /** Undefined for what cannot be an id. */
  readonly key: IdKey | undefined;
  /** Undefined where the filter was not asked. */
  readonly verdict: LookupOutcome | undefined;
  /** Whether the store was asked over the network: no copy in this process knows the id. */
  readonly isRemote?: boolean;
}

/**
 * Calls `load` with the ids that may exist, in their order, or not at all. Returns a row or null for each id.
 */
export async function loadGuarded(
  batch: GuardedBatch,
  ids: readonly unknown[],
  {
    load,
    key,
  }: { load: (ids: unknown[]) => Promise<readonly unknown[]>; key?: ((row: never) => BloomId) | undefined },
): Promise<unknown[]> {
  const asked = await askAll(batch, ids);
  const passing = asked.filter(({ verdict }) => verdict !== 'absent' || isAudited(batch));
  recordSaved(batch, asked.length - passing.length);
  const rows = passing.length > 0 ? await loadWithin(batch, passing, load) : [];
  const found = key ? byKey(batch, passing, rows, key) : byPlace(batch, passing, rows);
  for (const one of passing) settle(batch, one, found.get(one));
  return asked.map((one) => found.get(one) ?? null);
}

export function guardedBatch<Id extends BloomId, Row>(
  { filter, emit }: { readonly filter: GuardableFilter; readonly emit: BloomEventListener },
  load: (ids: Id[]) => Promise<readonly Row[]>,
  { key, scope }: BloomBatchOptions<Row> = {},
): (ids: readonly Id[]) => Promise<(Row | null)[]> {
  const method = `guardBatch of filter '${filter.name}'`;
  if (scope !== undefined && filter.keys.isScoped === false)
    throw new BloomConfigError(scopeOfUnscoped(filter.name, 'guardBatch()'));
  const inScope = scope === undefined ? undefined : scopedBy(scope);
  const batch = { filter, name: filter.name, emit, method, counted: { last: undefined }, inScope };
  const parts = { load: load as (ids: unknown[]) => Promise<readonly unknown[]>, key };
  return async (ids) => (await loadGuarded(batch, ids, parts)) as (Row | null)[];
}

/** As `loadGuarded`, for rows in no order: returns what `load` returned, or an empty list. */
export async function loadFound(
  batch: GuardedBatch,
  ids: readonly unknown[],
  load: (ids: unknown[]) => Promise<unknown>,
): Promise<unknown> {
  const asked = await askAll(batch, ids);
  // Compared where all ids are absent: otherwise no row can be matched with its id.
  const isAbsent = asked.length > 0 && asked.every(({ verdict }) => verdict === 'absent');
  const passesAll = isAbsent ? isAudited(batch) : batch.filter?.guarding.blocksNone(batch.method);
  const passing = passesAll ? asked : asked.filter(({ verdict }) => verdict !== 'absent');
  recordSaved(batch, asked.length - passing.length);
  if (passing.length === 0 && ids.length > 0) return [];
  const rows = await loadWithin(batch, passing, load);
  if (isAbsent && Array.isArray(rows)) settle(batch, passing[0]!, rows[0]);
  return rows;
}

/**
 * Loads ids, those that the filter cannot judge within its budget.
 *
 * @throws {BloomOverloadError} where there is no room.
 */
async function loadWithin<Rows>(
  batch: GuardedBatch,
  passing: readonly Asked[],
  load: (ids: unknown[]) => Promise<Rows>,
): Promise<Rows> {
  const ids = passing.map(({ id }) => id);
  const budget = batch.filter?.guarding.mode === 'on' ? batch.filter.guarding.budget : undefined;
  const unjudged = passing.filter(({ verdict }) => verdict !== undefined && verdictOf(verdict) === 'unknown');
  if (!budget || unjudged.length === 0) return loadJudged(batch, passing, load);
  const call = await budget.enter(unjudged.map(({ key }) => key!));
  if (!call) {
    recordSaved(batch, ids.length);
    throw new BloomOverloadError(batch.name);
  }
  let isFound: boolean | undefined;
  try {
    const rows = await budget.run(call, () => load(ids));
    isFound = Array.isArray(rows) && rows.some((row) => row !== null && row !== undefined);
    return rows;
  } finally {
    budget.leave(call, isFound);
  }
}

/** Loads ids that the filter has judged: what runs now is what usually runs. */
async function loadJudged<Rows>(
  { filter }: GuardedBatch,
  passing: readonly Asked[],
  load: (ids: unknown[]) => Promise<Rows>,
): Promise<Rows> {
  const rule = passing.some(({ verdict }) => verdict === 'maybe') ? filter?.guarding.budget?.load : undefined;
  const startedAt = rule?.begin();
  try {
    return await load(passing.map(({ id }) => id));
  } finally {
    rule?.end(startedAt!);
  }
}

/** Whether an absent id is loaded all the same. */
function isAudited(batch: GuardedBatch): boolean {
  return batch.filter?.guarding.isAudited(batch) ?? true;
}

function recordSaved(batch: GuardedBatch, ids: number): void {
  const { filter } = batch;
  if (filter && ids > 0) filter.guarding.recordSaved(batch, ids);
}

/** The checks of one tick share a round trip. */
function askAll(batch: GuardedBatch, ids: readonly unknown[]): Promise<Asked[]> {
  return Promise.all(ids.map((id) => ask(batch, id)));
}

async function ask(batch: GuardedBatch, id: unknown): Promise<Asked> {
  const { filter, name, emit, method } = batch;
  let key: IdKey | undefined;
  try {
    key = keyOf(batch, id);
  } catch (error) {
    if (filter && filter.guarding.mode !== 'off') {
      filter.guarding.recordUnread(error instanceof BloomIdError, batch);
      filter.lookups.recordUnknown('invalid-id', 1);
      emit({ type: 'invalid-id', filter: name, error, method });
    }
    return { id, key, verdict: undefined };
  }
  if (!filter || filter.guarding.mode === 'off') return { id, key, verdict: undefined };
  const { guarding, keys } = filter;
  const note = guarding.queued && keys.digestOf(key);
  // Asked for before the filter is checked: an id leaves the queue when it is in the filter.
  if (note !== undefined && guarding.queued?.has(note)) return { id, key, verdict: undefined };
  const outcome = filter.checkKey(key);
  const verdict = await outcome;
  guarding.record(verdict, batch);
  return { id, key, verdict, isRemote: typeof outcome !== 'string' };
}

function byPlace(
  { method }: GuardedBatch,
  asked: readonly Asked[],
  rows: readonly unknown[],
): Map<Asked, unknown> {
  if (rows.length !== asked.length) throw new TypeError(rowsOutOfPlace(method, asked.length, rows.length));
  return new Map(asked.map((one, i) => [one, rows[i]]));
}

function byKey(
  batch: GuardedBatch,
  asked: readonly Asked[],
  rows: readonly unknown[],
  idOf: (row: never) => BloomId,
): Map<Asked, unknown> {
  const { name, emit, method } = batch;
  const wanted = new Map<string, Asked[]>();
  for (const one of asked) {
    const text = one.key === undefined ? String(one.id) : idNote(one.key);
    wanted.set(text, [...(wanted.get(text) ?? []), one]);
  }
  const found = new Map<Asked, unknown>();
  for (const row of rows) {
    if (row === null || row === undefined) continue;
    if (row instanceof Error) throw row;
    const id = idOf(row as never);
    const matches = wanted.get(textOf(batch, id)) ?? wanted.get(String(id));
    if (!matches) {
      emit({
        type: 'guard-error',
        filter: name,
        method,
        operation: 'key',
        error: new TypeError(rowOfNoId(method)),
      });
      continue;
    }
    for (const one of matches) if (!found.has(one)) found.set(one, row);
  }
  return found;
}

function keyOf({ filter, inScope }: GuardedBatch, id: unknown): IdKey {
  return filter ? filter.keys.of(inScope ? inScope(id) : id) : toIdKey(id);
}

function textOf(batch: GuardedBatch, id: BloomId): string {
  try {
    return idNote(keyOf(batch, id));
  } catch {
    return String(id);
  }
}

function settle(batch: GuardedBatch, { id: given, key, verdict, isRemote }: Asked, row: unknown): void {
  const { filter, method, inScope } = batch;
  if (!filter || key === undefined || row instanceof Error) return;
  const isFound = row !== null && row !== undefined;
  if (!isFound) filter.guarding.methodsThatReportMissing.add(method);
  if (verdict === 'maybe' && !isFound) filter.guarding.recordFoundNothing(batch);
  if (isFound && verdict !== 'absent' && (isRemote || verdict !== 'maybe')) filter.guarding.seen?.add(key);
  if (verdict === 'absent' && isFound)
    void filter.reportFalseNegative({
      id: (inScope ? inScope(given) : given) as BloomId,
      key,
      method,
      returned: typeof row,
    });
}
