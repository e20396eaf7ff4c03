/** What is known of one key. The true count is at most `count`, and at least `count - error`. */
export interface CountedKey {
  readonly key: string;
  readonly count: number;
  readonly error: number;
}

interface Counter {
  key: string;
  count: number;
  error: number;
  /** By the rule that settled so much of the certain count. */
  settled: Map<string, number> | undefined;
}

/**
 * Counts the most frequent keys of a stream in bounded memory: Space-Saving (Metwally, Agrawal and El Abbadi, 2005). A key that is new to a full table
 * takes the place of a key with the smallest count, and that count as its error. Of n counts in a table of k keys no error is above n / k, and
 * every key with a count above n / k is in the table.
 */
export class SpaceSaving {
  private readonly counters = new Map<string, Counter>();
  /** The counters by their count; of one count in the order in which they came to it. */
  private readonly byCount = new Map<number, Set<Counter>>();
  private least = 0;

  constructor(private readonly maxKeys: number) {}

  count(key: string): void {
    const known = this.counters.get(key);
    if (known) {
      this.move(known);
      return;
    }
    if (this.counters.size < this.maxKeys) {
      const counter: Counter = { key, count: 1, error: 0, settled: undefined };
      this.counters.set(key, counter);
      this.place(counter);
      this.least = 1;
      return;
    }
    const [replaced] = this.byCount.get(this.least)!;
    this.counters.delete(replaced!.key);
    replaced!.key = key;
    replaced!.error = replaced!.count;
    replaced!.settled = undefined;
    this.counters.set(key, replaced!);
    this.move(replaced!);
  }

  /** The count that a key has for certain, without what this rule has settled. */
  owedBy(key: string, rule: string): number {
    const counter = this.counters.get(key);
    return counter ? counter.count - counter.error - (counter.settled?.get(rule) ?? 0) : 0;
  }

  settle(key: string, rule: string): void {
    const counter = this.counters.get(key);
    if (counter) (counter.settled ??= new Map()).set(rule, counter.count - counter.error);
  }

  all(): IterableIterator<CountedKey> {
    return this.counters.values();
  }

  private move(counter: Counter): void {
    const peers = this.byCount.get(counter.count)!;
    peers.delete(counter);
    if (peers.size === 0) {
      this.byCount.delete(counter.count);
      if (this.least === counter.count) this.least++;
    }
    counter.count++;
    this.place(counter);
  }

  private place(counter: Counter): void {
    const peers = this.byCount.get(counter.count);
    if (peers) peers.add(counter);
    else this.byCount.set(counter.count, new Set([counter]));
  }
}
