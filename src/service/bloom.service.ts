import {
  type BloomClientAbsents,
  BloomConfigError,
  type BloomEvent,
  type BloomEventListener,
  BloomUnavailableError,
  describeError,
  systemClock,
} from '../common/index.js';
import type { BloomFilter, BloomFilterInfo, GuardableFilter } from './bloom-filter.js';
import type { ClientCounts, ClientRefusals } from './client-counts.js';
import type { BloomFilterMetrics, BloomGuardMode } from './metrics.js';
import type { BloomInstances } from './instances.js';
import { ManagedFilter } from './managed-filter.js';
import { notReadyInTime, registeredFilters, twoFilters, unknownFilter } from './service.messages.js';
import type { BloomId } from '../filter/index.js';
import { type BloomVerdict, verdictOf } from '../store/index.js';

const READY_WITHIN_MS = 30_000;
const WORST_CLIENTS = 10;
/** The setup causes few texts; texts that differ with each call must not fill the memory. */
const MAX_ADVICE = 50;

/** Options of `BloomService.whenReady`. */
export interface BloomReadyOptions {
  /** How long to wait. Default 30,000. */
  readonly timeoutMs?: number;
  /** Only the filters of these names. Default: all. */
  readonly filters?: readonly string[];
}

/** Options of what an operator does to all processes. */
export interface BloomActionOptions {
  /** The operator or program that does it, in 1 to 200 characters. */
  readonly by: string;
}

/** All filters of an application, by name. Injectable wherever the module is visible. */
export class BloomService {
  /** @internal */
  readonly clients: ClientCounts | undefined;
  /** @internal */
  protected readonly byName = new Map<string, GuardableFilter>();

  /** @internal */
  constructor(
    /** Reports an event to all listeners. */
    readonly emit: BloomEventListener,
    clients?: ClientCounts,
  ) {
    this.clients = clients;
  }

  /** @internal */
  refusals(): ClientRefusals | undefined {
    return this.clients;
  }

  /** @throws {BloomConfigError} when no filter of this name is registered. */
  filter(name: string): BloomFilter {
    return this.guardable(name);
  }

  /** @internal */
  find(name: string): GuardableFilter | undefined {
    return this.byName.get(name);
  }

  /**
   * Also reports a filter that is missing.
   *
   * @internal
   */
  lookUp(name: string, method: string): GuardableFilter | undefined {
    const filter = this.find(name);
    if (!filter) this.emit({ type: 'filter-missing', filter: name, method });
    return filter;
  }

  /** @internal */
  guardable(name: string): GuardableFilter {
    const filter = this.find(name);
    if (!filter) throw new BloomConfigError(unknownFilter(name, [...this.byName.keys()]));
    return filter;
  }

  /** All filters of the application. */
  filters(): BloomFilter[] {
    return [...this.byName.values()];
  }

  /** What this process has counted of each of its filters, without asking the store. */
  metrics(): readonly BloomFilterMetrics[] {
    return [...this.byName.values()].map((filter) => filter.metrics());
  }

  /**
   * The clients with the most absent ids of a filter in this process, in this minute and the last one, the
   * worst first. Empty unless `attack.client` is set.
   *
   * @param most how many at most. Default 10.
   * @throws {BloomConfigError} when no filter of this name is registered.
   */
  worstClients(filter: string, most = WORST_CLIENTS): readonly BloomClientAbsents[] {
    this.guardable(filter);
    return this.clients?.worst(filter, most) ?? [];
  }

  /** Whether a filter is registered by this name. */
  has(name: string): boolean {
    return this.find(name) !== undefined;
  }

  /**
   * Waits until every filter is ready to answer: for a test, or for a start that is not to take traffic
   * before.
   *
   * @param options how long to wait, and for which filters. Default: 30 s, and all.
   * @throws {BloomUnavailableError} when one is not ready in time: which, and its state.
   * @throws {BloomConfigError} when no filter of a name is registered.
   */
  async whenReady({ timeoutMs = READY_WITHIN_MS, filters }: BloomReadyOptions = {}): Promise<void> {
    await whenReady(
      (filters ?? [...this.byName.keys()]).map((name) => this.guardable(name)),
      timeoutMs,
    );
  }

  /**
   * What all processes know of a filter.
   *
   * @throws {BloomConfigError} when no filter of this name is registered.
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  async instances(name: string): Promise<BloomInstances> {
    const filter = this.guardable(name);
    if (filter instanceof ManagedFilter) return filter.instances.read();
    return { instances: [], rebuilds: [], running: undefined, mode: undefined };
  }

  /**
   * Reports this process to the others from now on, for a dashboard, as the option `heartbeat: true` does.
   * Without effect after `heartbeat: false`.
   */
  reportInstances(): void {
    for (const filter of this.byName.values()) {
      if (filter instanceof ManagedFilter) void filter.instances.startReporting();
    }
  }

  /**
   * Sets how the guards of all processes use a filter: at once here, within about a second elsewhere, and in
   * processes that start later, until the next call. A process may set its own `filter.guarding.mode` after
   * it.
   *
   * @param mode null withdraws what was set: each process returns to its own mode.
   * @throws {BloomConfigError} when no filter of this name is registered, and for an unknown mode.
   * @throws {BloomUnavailableError} when it could not be set, or it is not known whether it was.
   *
   * @example await bloom.setMode('products', 'off', { by: 'Ana, incident 4711' });
   */
  async setMode(name: string, mode: BloomGuardMode | null, options: BloomActionOptions): Promise<void> {
    const filter = this.guardable(name);
    if (filter instanceof ManagedFilter) await filter.instances.setMode(mode, options?.by);
    else filter.guarding.mode = mode ?? 'on';
  }

  /**
   * Stops the rebuild of a filter, in whichever process it runs: there within about a second. No process
   * begins another one automatically for five minutes, but by its schedule.
   *
   * @param options `by`: who stops it, for logs and pages.
   * @returns false when no process reports that it rebuilds the filter.
   * @throws {BloomConfigError} when no filter of this name is registered.
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  async stopRebuild(name: string, options: BloomActionOptions): Promise<boolean> {
    const filter = this.guardable(name);
    return filter instanceof ManagedFilter ? filter.instances.stopRebuild(options?.by) : false;
  }

  /** For error messages: which filters exist, and how to register one. */
  registered(): string {
    return registeredFilters([...this.byName.keys()]);
  }

  /**
   * @internal
   * @throws {BloomConfigError} when the name is taken.
   */
  register(filter: GuardableFilter): void {
    if (this.byName.has(filter.name)) {
      throw new BloomConfigError(twoFilters(filter.name));
    }
    this.byName.set(filter.name, filter);
    this.clients?.observe(filter.name, filter.guarding);
  }

  /** @internal */
  onEvent(event: BloomEvent): void {
    if (event.type !== 'advice') return;
    const advice = this.byName.get(event.filter)?.advice;
    if (advice && advice.size < MAX_ADVICE) advice.add(event.withoutId ?? event.text);
  }
}

/** What refuses clients of an application; undefined where its options count none. */
export function refusalsOf(service: BloomService): ClientRefusals | undefined {
  return service.refusals();
}

/** Between two questions; they double. */
const FIRST_PAUSE_MS = 5;
const LAST_PAUSE_MS = 250;

interface Asked {
  readonly name: string;
  info(): Promise<BloomFilterInfo>;
}

/** @throws {BloomUnavailableError} when some of the filters are not ready in time. */
export async function whenReady(filters: readonly Asked[], timeoutMs: number): Promise<void> {
  const until = performance.now() + timeoutMs;
  let waiting = filters;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
    const asked = await Promise.all(
      waiting.map(async (filter) => ({ filter, state: await stateOf(filter) })),
    );
    const unready = asked.filter(({ state }) => state !== 'ready');
    if (unready.length === 0) return;
    const leftMs = until - performance.now();
    if (leftMs <= 0) {
      const named = unready.map(({ filter, state }) => `'${filter.name}' (${state})`);
      throw new BloomUnavailableError(notReadyInTime(timeoutMs, named));
    }
    await systemClock.sleep(Math.min(pauseMs, leftMs));
    waiting = unready.map(({ filter }) => filter);
  }
}

async function stateOf(filter: Asked): Promise<string> {
  try {
    return (await filter.info()).state;
  } catch (error) {
    return describeError(error);
  }
}

/** What a filter answers for an id, and what knew it: the queue of adds, this process, or the store. */
export interface ExplainedVerdict {
  /** The answer. */
  readonly verdict: BloomVerdict;
  /** What gave it: an add that waits in this process, its copy, or the store. */
  readonly by: 'queue' | 'process' | 'store';
}

/** Asks a filter as its guards do. */
export async function explainVerdict(
  service: BloomService,
  filter: string,
  id: BloomId,
): Promise<ExplainedVerdict> {
  const asked = service.guardable(filter);
  const key = asked.keys.of(id);
  if (asked.guarding.isQueued(key, asked.keys)) return { verdict: 'maybe', by: 'queue' };
  const outcome = asked.checkKey(key);
  return { verdict: verdictOf(await outcome), by: typeof outcome === 'string' ? 'process' : 'store' };
}
