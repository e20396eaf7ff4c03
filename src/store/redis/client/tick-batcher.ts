/** Turns the single calls of one tick into one call of `run` for all of them, without delaying a lone one. */
export function batched<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: Item[] = [];
  let tick: Promise<unknown>;
  let results: Promise<readonly Result[]>;
  return async (item) => {
    const place = waiting.push(item) - 1;
    // The queue of nextTick is served after all promises that have settled, and before any input or output.
    if (place === 0) tick = new Promise(process.nextTick);
    await tick;
    // The first call waited first, so it goes on first.
    if (place === 0) {
      const items = waiting;
      waiting = [];
      results = run(items);
    }
    return (await results)[place]!;
  };
}
