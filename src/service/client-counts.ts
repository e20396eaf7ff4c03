import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { ExecutionContext } from '@nestjs/common';
import {
  type BloomClientAbsents,
  type BloomEventListener,
  type Clock,
  systemClock,
} from '../common/index.js';
import { ownText } from '../filter/index.js';
import type { BloomAttackOptions } from './attack-rule.js';
import type { GuardState } from './guard-state.js';
import { clientIsNoText, clientsWithoutRequest } from './service.messages.js';
import { isIPv6 } from 'node:net';

/** Absents are counted by the minute. */
const WINDOW_MS = 60_000;
const MAX_CLIENTS = 10_000;
/** A longer name of a client is kept as its hash. */
const MAX_NAME = 64;
/** Refusals of clients at one time; when there are more, the first one ends early. */
const MAX_REFUSED = 10_000;

/** The clients of one filter, in this minute and in the last one. */
interface Windows {
  readonly guarding: GuardState;
  startedAt: number;
  now: SpaceSaving;
  before: SpaceSaving;
}

/** What a guard asks that refuses clients. */
export interface ClientRefusals {
  /** The client of a request; undefined where `client` gives none or fails. */
  clientOf(
    context: ExecutionContext,
    where: { readonly filter: string; readonly method: string },
  ): string | undefined;
  /**
   * For how many milliseconds a client is refused; 0 for one that is not. It is refused for `forMs` when it
   * has asked for `limit` absent ids within a minute, of all filters that block together. Each rule (a limit
   * and a time) refuses on its own. Only what is counted for certain stands against a client: none pays for
   * others.
   */
  refusedForMs(client: string, rule: { readonly limit: number; readonly forMs: number }): number;
}

/**
 * Counts the absents of each client in bounded memory, and knows which clients are refused, in this process.
 */
export class ClientCounts implements ClientRefusals {
  private readonly filters = new Map<string, Windows>();
  private readonly requests = new AsyncLocalStorage<ExecutionContext>();
  /** End of each refusal, by rule and client, in the order of their begin. */
  private readonly refused = new Map<string, number>();
  private hasSeenRequests = false;
  private hasAdvised = false;

  constructor(
    private readonly options: Pick<BloomAttackOptions, 'client' | 'maxClients'>,
    private readonly emit: BloomEventListener,
    private readonly clock: Clock = systemClock,
  ) {}

  /** Runs what belongs to a request, so that its absents are counted for its client. */
  run<Result>(context: ExecutionContext, request: () => Result): Result {
    this.hasSeenRequests = true;
    return this.requests.run(context, request);
  }

  /** Counts the absents of a filter from now on. */
  observe(filter: string, guarding: GuardState): void {
    const startedAt = this.clock.now();
    this.filters.set(filter, { guarding, startedAt, now: this.table(), before: this.table() });
    guarding.onAbsent = (method) => this.record(filter, method);
  }

  clientOf(
    context: ExecutionContext,
    where: { readonly filter: string; readonly method: string },
  ): string | undefined {
    try {
      const client: unknown = this.options.client?.(context);
      if (client === undefined || client === null || client === '') return undefined;
      if (typeof client === 'string') return bounded(client);
      // Its rejection must not end the process.
      if (client instanceof Promise) client.catch(() => {});
      throw new TypeError(clientIsNoText(client));
    } catch (error) {
      this.emit({ type: 'guard-error', ...where, operation: 'client', error });
      return undefined;
    }
  }

  /** The clients with the most absents of a filter in this minute and the last one, the worst first. */
  worst(filter: string, most: number): BloomClientAbsents[] {
    const windows = this.filters.get(filter);
    if (!windows) return [];
    this.turn(windows);
    const sums = new Map<string, { client: string; absents: number; error: number }>();
    for (const table of [windows.before, windows.now]) {
      for (const { key, count, error } of table.all()) {
        const sum = sums.get(key);
        if (!sum) sums.set(key, { client: key, absents: count, error });
        else {
          sum.absents += count;
          sum.error += error;
        }
      }
    }
    return [...sums.values()].sort((a, b) => b.absents - a.absents).slice(0, most);
  }

  refusedForMs(client: string, { limit, forMs }: { readonly limit: number; readonly forMs: number }): number {
    const now = this.clock.now();
    const rule = `${limit}/${forMs}`;
    const refusal = `${rule} ${client}`;
    const until = this.refused.get(refusal) ?? 0;
    if (until > now) return until - now;
    this.refused.delete(refusal);
    if (this.absentsOf(client, rule) < limit) return 0;
    // What was counted until now is paid for by the refusal.
    for (const { now, before } of this.filters.values()) {
      now.settle(client, rule);
      before.settle(client, rule);
    }
    if (this.refused.size >= MAX_REFUSED) this.refused.delete(this.refused.keys().next().value!);
    this.refused.set(refusal, now + forMs);
    return forMs;
  }

  private record(filter: string, method: string): void {
    const context = this.requests.getStore();
    if (!context) {
      this.adviseOnce(filter, method);
      return;
    }
    const client = this.clientOf(context, { filter, method });
    if (client === undefined) return;
    const windows = this.filters.get(filter)!;
    this.turn(windows);
    windows.now.count(client);
  }

  /** Absents of the last minute, as if those of the minute before the present one had come evenly. */
  private absentsOf(client: string, rule: string): number {
    let sum = 0;
    for (const windows of this.filters.values()) {
      if (windows.guarding.mode !== 'on') continue;
      this.turn(windows);
      const left = 1 - (this.clock.now() - windows.startedAt) / WINDOW_MS;
      sum += windows.now.owedBy(client, rule) + Math.ceil(windows.before.owedBy(client, rule) * left);
    }
    return sum;
  }

  private turn(windows: Windows): void {
    const elapsed = this.clock.now() - windows.startedAt;
    if (elapsed < WINDOW_MS) return;
    const isNext = elapsed < 2 * WINDOW_MS;
    windows.before = isNext ? windows.now : this.table();
    windows.now = this.table();
    windows.startedAt += Math.floor(elapsed / WINDOW_MS) * WINDOW_MS;
  }

  private table(): SpaceSaving {
    return new SpaceSaving(this.options.maxClients ?? MAX_CLIENTS);
  }

  /** Calls outside of requests have no client; where no request is ever seen, the interceptor is missing. */
  private adviseOnce(filter: string, method: string): void {
    if (this.hasSeenRequests || this.hasAdvised) return;
    this.hasAdvised = true;
    this.emit({ type: 'advice', filter, text: clientsWithoutRequest(method) });
  }
}

function bounded(client: string): string {
  return client.length <= MAX_NAME
    ? ownText(client) // An address may be a part of a whole header.
    : `sha256:${createHash('sha256').update(client).digest('base64url')}`;
}

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
  /** Count that each rule has settled. */
  settled: Map<string, number> | undefined;
}

/**
 * Counts the most frequent keys of a stream in bounded memory: Space-Saving (Metwally, Agrawal and El Abbadi,
 * 2005). A key that is new to a full table takes the place of a key with the smallest count, and that count
 * as its error. Of n counts in a table of k keys no error is above n / k, and every key with a count above n
 * / k is in the table.
 */
export class SpaceSaving {
  private readonly counters = new Map<string, Counter>();
  /** The counters by their count; of one count in the order in which they reached it. */
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

  /** The certain count of a key, without what this rule has settled. */
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

/** IPv6 clients are counted by /64 prefix: one customer owns a whole /64. */
const GROUPS_OF_A_NETWORK = 4;
const GROUPS = 8;
const IPV4_IN_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * The address of an HTTP request, for the option `attack.client`: IPv4 as it is, IPv6 as its /64 network. It
 * is `request.ip`, so behind a proxy set `trust proxy` (Express) or `trustProxy` (Fastify) to that proxy
 * alone. Undefined for other requests.
 */
export function clientAddress(context: ExecutionContext): string | undefined {
  if (context.getType() !== 'http') return undefined;
  const { ip } = context.switchToHttp().getRequest<{ readonly ip?: string }>();
  return ip === undefined ? undefined : networkOf(ip);
}

function networkOf(address: string): string {
  const ipv4 = IPV4_IN_IPV6.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return address;
  const [head = '', tail = ''] = bare.split('::');
  const [first, last] = [head, tail].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = bare.includes('::') ? GROUPS - first!.length - last!.length : 0;
  const groups = [...first!, ...Array.from({ length: zeros }, () => '0'), ...last!];
  const network = groups
    .slice(0, GROUPS_OF_A_NETWORK)
    .map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
