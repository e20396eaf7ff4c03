import { NO_LONGER_READ } from './sources.messages.js';

/**
 * What all of them give, as it comes. The next value of each is asked for while the values of the others are used; that of one whose value is used, after
 * that: a source may write the next id into the memory of this one. The first that fails ends the others.
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
