/** One line of the output: a contender's figure, or a figure of ours against its goal. */
export interface Row {
  readonly bench: string;
  readonly contender: string;
  readonly metric: string;
  readonly value: number;
  /** What the goal is about; null for a figure without one. */
  readonly ratio: number | null;
  readonly goal: string | null;
  /** Null when it is not judged: without a goal, and in a quick run. */
  readonly met: boolean | null;
  /** Whether the goal is missed by more than a fifth, which ends the run with an error. Null as `met` is. */
  readonly far: boolean | null;
}

/** How far a ratio may be from its goal before that is a loss of speed, and not the noise of a machine. */
const TOLERANCE = 0.2;

export interface BenchContext {
  /** A smoke run: a hundredth of the work, no goal is judged. */
  readonly quick: boolean;
  /** The first in a full run, the second in a quick one. */
  pick<Value>(full: Value, quick: Value): Value;
  readonly report: Report;
  /** Says that something is not measured here, and why; told again at the end of the run. */
  skip(what: string, why: string): void;
  /** Runs when the benchmark has ended, however it did; the last registered first. */
  cleanUp(work: () => unknown): void;
}

export type Bench = (context: BenchContext) => Promise<void>;

export interface Contender {
  readonly name: string;
  /** Its figure in this round. */
  measure(): number | Promise<number>;
}

export interface Goal {
  readonly contender: string;
  readonly metric: string;
  readonly value: number;
  readonly ratio: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** What the ratio is taken to: `raw GET`. */
  readonly of: string;
}

export class Report {
  constructor(
    private readonly bench: string,
    private readonly judge: boolean,
    private readonly print: (row: Row) => void,
  ) {}

  figure(contender: string, metric: string, value: number): void {
    this.print({
      bench: this.bench,
      contender,
      metric,
      value,
      ratio: null,
      goal: null,
      met: null,
      far: null,
    });
  }

  goal({ contender, metric, value, ratio, atLeast, atMost, of }: Goal): void {
    const isWithin = (share: number) =>
      (atLeast === undefined || ratio >= atLeast * (1 - share)) &&
      (atMost === undefined || ratio <= atMost * (1 + share));
    const goal = atLeast === undefined ? `≤ ${round(atMost!)} ${of}` : `≥ ${round(atLeast)} ${of}`;
    const met = this.judge ? isWithin(0) : null;
    const far = this.judge ? !isWithin(TOLERANCE) : null;
    this.print({ bench: this.bench, contender, metric, value, ratio, goal, met, far });
  }
}

/** All contenders in turn, round by round: their figures, to be compared within a round. */
export class Comparison {
  private constructor(private readonly rounds: ReadonlyMap<string, readonly number[]>) {}

  static async run(contenders: readonly Contender[], rounds: number): Promise<Comparison> {
    const figures = new Map(contenders.map(({ name }): [string, number[]] => [name, []]));
    // The first round warms up the compiler and the caches of all.
    for (let round = 0; round <= rounds; round++) {
      for (const contender of contenders) {
        // So that nobody pays for the garbage of the one before.
        globalThis.gc?.();
        const figure = await contender.measure();
        if (round > 0) figures.get(contender.name)!.push(figure);
      }
    }
    return new Comparison(figures);
  }

  /** All rounds of comparisons of the same contenders. */
  static joined(comparisons: readonly Comparison[]): Comparison {
    const names = [...comparisons[0]!.rounds.keys()];
    const of = (name: string) => comparisons.flatMap(({ rounds }) => rounds.get(name)!);
    return new Comparison(new Map(names.map((name) => [name, of(name)])));
  }

  has(contender: string): boolean {
    return this.rounds.has(contender);
  }

  median(contender: string): number {
    return median(this.rounds.get(contender)!);
  }

  /** The median of the ratios of each round: what disturbs the machine for a while disturbs both. */
  ratio(contender: string, to: string): number {
    const others = this.rounds.get(to)!;
    return median(this.rounds.get(contender)!.map((figure, round) => figure / others[round]!));
  }

  reportOthers(report: Report, metric: string, ours: readonly string[] = ['ours']): void {
    for (const name of this.rounds.keys()) {
      if (!ours.includes(name)) report.figure(name, metric, this.median(name));
    }
  }

  /** The goal "at least so many times the other's", unless the other is not there. */
  expectTimes(
    report: Report,
    goal: { ours?: string; metric: string; to: string; atLeast?: number; atMost?: number },
  ): void {
    const { ours = 'ours', to, metric, ...bounds } = goal;
    if (!this.has(to)) return;
    report.goal({
      contender: ours,
      metric,
      value: this.median(ours),
      ratio: this.ratio(ours, to),
      of: `× ${to}`,
      ...bounds,
    });
  }
}

/** Operations per second. */
export async function rate(operations: number, work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return (operations * 1000) / (performance.now() - start);
}

export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** What a benchmark asserts before it measures. */
export function assert(holds: boolean, expected: string): asserts holds {
  if (!holds) throw new Error(`Expected ${expected}. Nothing was measured.`);
}

function round(bound: number): number {
  return Number(bound.toPrecision(4));
}
