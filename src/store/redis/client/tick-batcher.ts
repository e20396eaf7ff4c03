interface Batch<Item, Result> {
  readonly items: Item[];
  readonly results: Promise<readonly Result[]>;
}

/** Turns the single calls of one tick into one call for all of them, without delaying a lone one. */
export class TickBatcher<Item, Result> {
  private batch: Batch<Item, Result> | undefined;

  constructor(private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>) {}

  call(item: Item): Promise<Result> {
    this.batch ??= this.begin();
    const { items, results } = this.batch;
    const place = items.push(item) - 1;
    return results.then((all) => all[place]!);
  }

  private begin(): Batch<Item, Result> {
    const items: Item[] = [];
    const results = new Promise<readonly Result[]>((resolve, reject) => {
      // The queue of nextTick is served after all promises that have settled, and before any input or output.
      process.nextTick(() => {
        this.batch = undefined;
        this.run(items).then(resolve, reject);
      });
    });
    return { items, results };
  }
}
