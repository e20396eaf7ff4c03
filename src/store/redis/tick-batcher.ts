interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Turns the single calls of one tick into one call for all of them, without delaying a lone one. */
export class TickBatcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];

  constructor(private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>) {}

  call(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      // The queue of nextTick is served after all promises that have settled, and before any input or output.
      if (this.waiting.length === 0) process.nextTick(() => void this.flush());
      this.waiting.push({ item, resolve, reject });
    });
  }

  private async flush(): Promise<void> {
    const batch = this.waiting;
    this.waiting = [];
    try {
      const results = await this.run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, i) => resolve(results[i]!));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
