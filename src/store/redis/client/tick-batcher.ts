/** Turns the single calls of one tick into one call of `run` for all of them, without delaying a lone one. */
export function batched<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: Item[] = [];
  let results: Promise<readonly Result[]>;
  const runWaiting = async () => {
    // The queue of nextTick is served after all promises that have settled, and before any input or output.
    await new Promise(process.nextTick);
    const items = waiting;
    waiting = [];
    return run(items);
  };
  return (item) => {
    const place = waiting.push(item) - 1;
    if (place === 0) results = runWaiting();
    return results.then((all) => all[place]!);
  };
}
