import {
  type BloomUnknownBudget,
  LookupBudget,
  type LookupRank,
  type UnjudgedCall,
} from '../../src/service/lookup-budget.js';
import { Random } from '../../test/support/random.js';
import type { RuleMaker } from './limit-rules.js';

/** The load of a shop whose instances share one database, and what becomes of its filter. */
export interface Scenario {
  /** Lookups a second of ids that exist, while the filter can judge. */
  readonly real: number;
  /** The same while it cannot. */
  readonly realWhenBlind: number;
  /** Lookups a second of absent ids, all the time. */
  readonly flood: number;
  /** Whether a hint tells the ids that exist, as a copy of the filter does. */
  readonly isHinted: boolean;
  /** Whether the filter has judged before. */
  readonly wasReady: boolean;
  /** How many times as long a query takes while the filter cannot judge. */
  readonly slower?: number;
  readonly instances: number;
}

export interface Outcome {
  /** Share of the lookups of ids that exist that are answered in time. */
  readonly served: number;
  /** Share of them that are refused. */
  readonly refused: number;
  /** Milliseconds until the answer, of those that are answered. */
  readonly p50: number;
  readonly p99: number;
  /** Queries a second for absent ids. */
  readonly floodQueries: number;
  /** Share of the time for which a connection is busy. */
  readonly busy: number;
}

const CONNECTIONS = 10;
/** The mean; times are distributed exponentially. */
const QUERY_MS = 5;
const JUDGED_MS = 20_000;
const BLIND_MS = 20_000;
/** The first moments of blindness are not judged. */
const SETTLING_MS = 1000;
/** A client gives up. */
const PATIENCE_MS = 1000;

/** The filter can judge for twenty seconds, if it ever could, and cannot for the next twenty. */
export async function simulate(
  scenario: Scenario,
  makeRule: RuleMaker,
  seed: number,
  settings: BloomUnknownBudget = {},
): Promise<Outcome> {
  const random = new Random(seed);
  const agenda = new Agenda();
  const database = new Database(agenda, random);
  const blindAt = scenario.wasReady ? JUDGED_MS : 0;
  const endAt = blindAt + BLIND_MS;
  const clock = { now: () => agenda.now };
  const later = (ms: number, run: () => void) => agenda.add(ms, run);
  const instances = Array.from({ length: scenario.instances }, () => {
    const load = makeRule(clock);
    const options = {
      filter: '',
      settings,
      clock,
      later,
      emit: () => {},
      rankOf: (key: unknown) => key as LookupRank,
    };
    return { load, budget: new LookupBudget({ ...options, load }) };
  });
  let [asked, refused, floodQueries] = [0, 0, 0];
  const times: number[] = [];

  const lookUp = (isReal: boolean): void => {
    const { load, budget } = random.choose(instances);
    const calledAt = agenda.now;
    const isSeen = calledAt >= blindAt + SETTLING_MS && calledAt < endAt - PATIENCE_MS;
    if (isSeen && isReal) asked++;
    if (calledAt < blindAt) {
      if (!isReal) return;
      const startedAt = load.begin();
      database.query(() => load.end(startedAt));
      return;
    }
    const run = (call: UnjudgedCall | undefined): void => {
      if (!call) {
        if (isSeen && isReal) refused++;
        return;
      }
      database.query(() => {
        budget.leave(call, isReal);
        if (!isSeen) return;
        if (!isReal) floodQueries++;
        else if (agenda.now - calledAt <= PATIENCE_MS) times.push(agenda.now - calledAt);
      });
    };
    const entered = budget.enter([isReal && scenario.isHinted ? 'hinted' : 'other']);
    if (entered instanceof Promise) void entered.then(run);
    else run(entered);
  };
  const arrive = (isReal: boolean, rate: () => number): void => {
    const gapMs = exponential(random, 1000 / rate());
    if (agenda.now + gapMs < endAt)
      agenda.add(gapMs, () => {
        lookUp(isReal);
        arrive(isReal, rate);
      });
  };
  arrive(true, () => (agenda.now < blindAt ? scenario.real : scenario.realWhenBlind));
  if (scenario.flood > 0) arrive(false, () => scenario.flood);
  agenda.add(blindAt + SETTLING_MS, () => database.measure(scenario.slower ?? 1));
  if (scenario.slower) agenda.add(blindAt, () => database.measure(scenario.slower!));

  await agenda.runUntil(endAt);
  const seconds = (BLIND_MS - SETTLING_MS - PATIENCE_MS) / 1000;
  const sorted = Float64Array.from(times).sort();
  const quantile = (share: number) => sorted[Math.floor(share * sorted.length)] ?? Infinity;
  return {
    served: times.length / asked,
    refused: refused / asked,
    p50: quantile(0.5),
    p99: quantile(0.99),
    floodQueries: floodQueries / seconds,
    busy: database.busyMs / (BLIND_MS - SETTLING_MS) / CONNECTIONS,
  };
}

/** What is to be done at which time. */
class Agenda {
  now = 0;
  private readonly heap: { readonly at: number; readonly run: () => void }[] = [];

  add(afterMs: number, run: () => void): void {
    const { heap } = this;
    const entry = { at: this.now + afterMs, run };
    let i = heap.length;
    heap.push(entry);
    for (let parent = (i - 1) >> 1; i > 0 && heap[parent]!.at > entry.at; parent = (i - 1) >> 1) {
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = entry;
  }

  async runUntil(end: number): Promise<void> {
    for (let next = this.take(); next && next.at <= end; next = this.take()) {
      this.now = next.at;
      next.run();
      // Calls that were let out of a queue go on now.
      await undefined;
    }
  }

  private take() {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || !last) return first;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++;
      if (child >= heap.length || heap[child]!.at >= last.at) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
    return first;
  }
}

/** Connections that take queries in the order in which they came. */
class Database {
  busyMs = 0;
  private busy = 0;
  private slower = 1;
  private readonly waiting: (() => void)[] = [];
  private at = 0;

  constructor(
    private readonly agenda: Agenda,
    private readonly random: Random,
  ) {}

  /** Forgets how busy it was. */
  measure(slower: number): void {
    this.slower = slower;
    this.busyMs = 0;
  }

  query(done: () => void): void {
    if (this.busy < CONNECTIONS) this.run(done);
    else this.waiting.push(done);
  }

  private run(done: () => void): void {
    this.busy++;
    const ms = exponential(this.random, QUERY_MS * this.slower);
    this.agenda.add(ms, () => {
      this.busy--;
      this.busyMs += ms;
      // Where thousands wait, a shift of all of them for each would take hours.
      const next = this.waiting[this.at];
      if (next) {
        this.at++;
        this.run(next);
      } else {
        this.waiting.length = this.at = 0;
      }
      done();
    });
  }
}

function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random.uint32() / 2 ** 32);
}
