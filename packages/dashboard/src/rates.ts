/** Counts of one instance by name. All only grow while it runs. */
export type Counters = ReadonlyMap<string, number>;

export interface Reading {
  /** Differs for each start of a process. */
  readonly id: string;
  /** By one clock, in milliseconds. */
  readonly at: number;
  readonly counters: Counters;
}

interface Compared extends Reading {
  /** Growth in a second, by name; undefined until there are two readings. */
  readonly rates: Counters | undefined;
}

/** No rate is computed over less: of two readings at almost the same moment it says nothing. */
const SHORTEST_MS = 200;

/**
 * How fast counts of several instances grow. An instance keeps its rate until it is read anew, so that the
 * sum does not jump because instances report at different moments.
 */
export class Rates {
  private instances = new Map<string, Compared>();
  private sums: Map<string, number> | undefined;

  /** @param readings those of all instances that run; the others are forgotten. */
  observe(readings: readonly Reading[]): void {
    this.instances = new Map(readings.map((reading) => [reading.id, this.compared(reading)]));
    this.sums = undefined;
  }

  /** Rates of all instances together; undefined while none has been read twice. */
  of(name: string): number | undefined {
    return this.hasRates() ? (this.totals().get(name) ?? 0) : undefined;
  }

  ofInstance(id: string, name: string): number | undefined {
    const rates = this.instances.get(id)?.rates;
    return rates && (rates.get(name) ?? 0);
  }

  hasRates(): boolean {
    return [...this.instances.values()].some(({ rates }) => rates !== undefined);
  }

  private totals(): Map<string, number> {
    if (this.sums) return this.sums;
    const sums = new Map<string, number>();
    for (const { rates = new Map<string, number>() } of this.instances.values())
      for (const [name, rate] of rates) sums.set(name, (sums.get(name) ?? 0) + rate);
    return (this.sums = sums);
  }

  private compared(reading: Reading): Compared {
    const before = this.instances.get(reading.id);
    if (!before) return { ...reading, rates: undefined };
    // A clock that was set back says nothing of how long ago the last reading was.
    if (reading.at < before.at) return { ...reading, rates: before.rates };
    if (reading.at - before.at < SHORTEST_MS) return before;
    const seconds = (reading.at - before.at) / 1000;
    const rates = new Map<string, number>();
    for (const [name, count] of reading.counters) {
      const grown = count - (before.counters.get(name) ?? 0);
      // A count that fell has begun anew: what it is now has come since.
      rates.set(name, (grown < 0 ? count : grown) / seconds);
    }
    return { ...reading, rates };
  }
}
