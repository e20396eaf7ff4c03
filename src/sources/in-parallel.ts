import { createHash } from 'node:crypto';
import type { Type } from '@nestjs/common';
import { BloomConfigError } from '../common/index.js';
import type { BloomId } from '../filter/index.js';
import {
  type BloomIdOrder,
  type BloomIdsContext,
  type BloomIdSource,
  expectAsync,
  packedTogether,
} from '../rebuild/index.js';
import type { BloomSourceFactory } from './source-factory.js';
import {
  NO_LONGER_READ,
  NO_NEW_ROWS,
  NO_SOURCES,
  ORDERS_NOT_MERGED,
  notASourceToMerge,
  spellingsDiffer,
  wrongRangeBound,
  wrongRangeCount,
} from './sources.messages.js';

/** What `inParallel` takes; a class is one of a provider of the application. */
export type BloomParallelSource = BloomIdSource | BloomSourceFactory | Type<BloomIdSource>;

/** A longer text is not kept with a filter. */
const MAX_COLUMNS_TEXT = 200;

/** Options of `inParallel`. */
export interface BloomParallelOptions {
  /**
   * A source with `idsSince`, for `topUp`, in an order of the rows of all sources. Rebuilds do not read it.
   */
  readonly newRows?: BloomParallelSource;
  /**
   * Order in which the ids of all sources are made together, as by one sequence; `newRows` reads all of them.
   * The filter is covered then. What `newRows` says of its own ids does not count.
   */
  readonly idOrder?: BloomIdOrder;
}

/**
 * One source of several that are read at the same time: shards, tables, or ranges of one table. A source that
 * fails fails the run. Together they have to read every id, some twice if need be, and no row may move from
 * one of them to another meanwhile. An array as the `source` of a filter is the same.
 *
 * @example
 * inParallel(shards.map((pool) => postgresCopy({ pool, table: 'products', column: 'id' })));
 *
 * @throws {BloomConfigError} for no source, and for what is not one; at start, when they spell ids
 * differently.
 */
export function inParallel(
  sources: readonly BloomParallelSource[],
  { newRows, idOrder }: BloomParallelOptions = {},
): BloomSourceFactory {
  if (!Array.isArray(sources) || sources.length === 0) throw new BloomConfigError(NO_SOURCES);
  const all = (newRows === undefined ? sources : [...sources, newRows]).map(factoryOf);
  return {
    inject: all.flatMap(({ inject = [] }) => inject),
    useFactory: async (...provided: unknown[]) => {
      let taken = 0;
      const made = await Promise.all(
        all.map((factory) => {
          const own = provided.slice(taken, (taken += factory.inject?.length ?? 0));
          return factory.useFactory(...own);
        }),
      );
      for (const source of made) if (!isSource(source)) throw new BloomConfigError(notASourceToMerge(source));
      expectOneSpelling(made);
      return {
        ...together(made.slice(0, sources.length)),
        ...(newRows !== undefined && newRowsOf(made.at(-1)!)),
        idOrder: idOrder ?? { reason: ORDERS_NOT_MERGED },
      };
    },
  };
}

/** @throws {BloomConfigError} for what is no source. */
function factoryOf(source: BloomParallelSource): BloomSourceFactory {
  if (isFactory(source)) return source;
  if (isSource(source)) return { useFactory: () => source };
  // A function that makes no objects is no class of a provider.
  if (typeof source === 'function' && source.prototype?.constructor === source)
    return { inject: [source], useFactory: (provided: BloomIdSource) => provided };
  throw new BloomConfigError(notASourceToMerge(source));
}

/**
 * It says nothing of open transactions: another source may have some of its own, on another server.
 *
 * @throws {BloomConfigError} when it has none.
 */
function newRowsOf(source: BloomIdSource): Pick<BloomIdSource, 'idsSince' | 'newest'> {
  if (!source.idsSince) throw new BloomConfigError(NO_NEW_ROWS);
  return {
    idsSince: (mark, context) => source.idsSince!(mark, context),
    ...(source.newest && { newest: (others) => source.newest!(others) }),
  };
}

/** @throws {BloomConfigError} when they spell ids differently. */
function expectOneSpelling([first, ...others]: readonly BloomIdSource[]): void {
  const spelling = first!.spelling;
  for (const { spelling: other } of others)
    if (other?.name !== spelling?.name || other?.normalize !== spelling?.normalize)
      throw new BloomConfigError(spellingsDiffer(spelling?.column, other?.column));
}

function together(sources: readonly BloomIdSource[]): BloomIdSource {
  const { spelling } = sources[0]!;
  const readsFrom = columnsOf(sources);
  return {
    ids: (context) => readTogether(sources, context),
    ...(sources.every((source) => source.count) && { count: () => countTogether(sources) }),
    ...(spelling && { spelling }),
    ...(readsFrom !== undefined && { readsFrom }),
    ...(sources.some((source) => source.scoped) && { scoped: true }),
  };
}

/** All columns that are read, each once; undefined where a source does not name its own. */
function columnsOf(sources: readonly BloomIdSource[]): string | undefined {
  const columns = new Set(sources.map(({ readsFrom }) => readsFrom));
  if (columns.has(undefined)) return undefined;
  const text = [...columns].sort().join(', ');
  if (text.length <= MAX_COLUMNS_TEXT) return text;
  return `${columns.size} columns (${createHash('sha1').update(text).digest('hex').slice(0, 16)})`;
}

function readTogether(
  sources: readonly BloomIdSource[],
  context: BloomIdsContext,
): AsyncIterable<BloomId | readonly BloomId[]> {
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  const all = opened(sources, { ...context, signal }, ended);
  const merge = <Value>(readers: readonly AsyncIterable<Value>[]) => mergedInAnyOrder(readers, ended);
  return packedTogether(all, merge) ?? merge(all);
}

function opened(sources: readonly BloomIdSource[], context: BloomIdsContext, ended: AbortController) {
  try {
    return sources.map((source) => expectAsync(source.ids(context), 'ids'));
  } catch (error) {
    // Those before it may have begun.
    ended.abort(error);
    throw error;
  }
}

async function countTogether(sources: readonly BloomIdSource[]): Promise<number | undefined> {
  const counts = await Promise.all(sources.map((source) => source.count!()));
  // What is no number is reported by whoever asked.
  return counts.includes(undefined) ? undefined : counts.reduce<number>((sum, count) => sum + count!, 0);
}

function isFactory(source: unknown): source is BloomSourceFactory {
  return has(source, 'useFactory');
}

function isSource(source: unknown): source is BloomIdSource {
  return has(source, 'ids');
}

function has(source: unknown, name: string): boolean {
  return (
    typeof source === 'object' &&
    source !== null &&
    typeof (source as Record<string, unknown>)[name] === 'function'
  );
}

/**
 * The values of all readers as they come. The next value of a reader is asked for after its last one was
 * used: a source may write the next id into the same memory. The first failure ends the others.
 *
 * @param ended aborted when no value is needed any more.
 */
export async function* mergedInAnyOrder<Value>(
  readers: readonly AsyncIterable<Value>[],
  ended: AbortController,
): AsyncGenerator<Value> {
  const iterators: AsyncIterator<Value>[] = [];
  const come: { readonly from: AsyncIterator<Value>; readonly result: IteratorResult<Value> }[] = [];
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  const ask = (from: AsyncIterator<Value>) => {
    from.next().then(
      (result) => {
        come.push({ from, result });
        wake?.();
      },
      (error: unknown) => {
        failure ??= { error };
        wake?.();
      },
    );
  };
  const open = new Set<AsyncIterator<Value>>();
  try {
    for (const reader of readers) iterators.push(reader[Symbol.asyncIterator]());
    for (const iterator of iterators) {
      open.add(iterator);
      ask(iterator);
    }
    while (open.size > 0) {
      if (failure) throw failure.error;
      const next = come.shift();
      if (!next) {
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      if (next.result.done) {
        open.delete(next.from);
        continue;
      }
      yield next.result.value;
      ask(next.from);
    }
  } finally {
    ended.abort(new Error(NO_LONGER_READ));
    // The clean-up of one that hangs may never end: it is started, not awaited.
    for (const iterator of iterators) void Promise.resolve(iterator.return?.(undefined)).catch(() => {});
  }
}

/** Values of a column of integers, its bounds included. */
export interface BloomRange {
  /** The first one. */
  readonly least: bigint;
  /** The last one. */
  readonly most: bigint;
}

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;
const MOST_RANGES = 1000;

/**
 * Ranges of a column of integers, to read one table by several sources at the same time. Each integer of 64
 * bits is in one range: values from `least` to `most` are dealt evenly, smaller ones are in the first, larger
 * ones in the last. An update must not change the column.
 *
 * @param count how many ranges at most.
 * @example
 * rangesOf(1, 40_000_000, 4).map(({ least, most }) => fromPages<Row>(
 *   (after, { take }) => sql`select id from products
 *     where id between ${after ? BigInt(after.id) + 1n : least} and ${most} order by id limit ${take}`,
 *   { key: 'id' },
 * ));
 *
 * @throws {BloomConfigError} for bounds that are not integers of 64 bits in order, and for another count than
 * 1 to 1,000.
 */
export function rangesOf(least: number | bigint, most: number | bigint, count: number): BloomRange[] {
  const [from, to] = [bound('least', least), bound('most', most)];
  if (from > to) throw new BloomConfigError(wrongRangeBound('most', `at least ${from}`, most));
  if (!Number.isSafeInteger(count) || count < 1 || count > MOST_RANGES)
    throw new BloomConfigError(wrongRangeCount(MOST_RANGES, count));
  const values = to - from + 1n;
  const ranges = values < BigInt(count) ? values : BigInt(count);
  const begin = (i: bigint) => from + (values * i) / ranges;
  return Array.from({ length: Number(ranges) }, (_, i) => ({
    least: i === 0 ? LEAST : begin(BigInt(i)),
    most: i === Number(ranges) - 1 ? MOST : begin(BigInt(i + 1)) - 1n,
  }));
}

function bound(name: string, value: unknown): bigint {
  if (typeof value === 'bigint' && value >= LEAST && value <= MOST) return value;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  throw new BloomConfigError(wrongRangeBound(name, 'a safe integer, or a bigint of 64 bits', value));
}
