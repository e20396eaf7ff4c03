import { type BloomEventListener, BloomUnavailableError } from '../../../common/index.js';
import { clusterSlot, type RedisClient, type RedisNodes } from '../../index.js';
import { CIRCUIT_OPEN } from './client.messages.js';
import { withDeadline } from './deadline.js';

/** Failures in a row after which lookups are no longer sent. */
const FAILURES_TO_OPEN = 5;
/** While open, one lookup is sent in this time to see whether the server is back. */
const TRIAL_EVERY_MS = 200;

/** A lookup was not sent because the last ones failed, which one event reports. */
export class CircuitOpenError extends BloomUnavailableError {}

/** The lookups that go to one server, under a deadline and behind a circuit breaker. */
export class NodeLookups {
  /** Set by the breaker alone. */
  isCircuitOpen = false;
  /** How many commands of lookups wait for a reply. */
  reads = { waiting: 0 };
  /** Another one whenever a connection has ended: what was known of the server has to be asked again. */
  server = '';
  private failures = 0;
  private nextTrialAt = 0;
  private rejected = 0;

  constructor(
    /** The node of a cluster; undefined where there is one server. */
    readonly node: string | undefined,
    private readonly options: LookupOptions,
  ) {}

  /**
   * To be called while the circuit is open.
   *
   * @throws {CircuitOpenError} when a lookup is not to be sent.
   */
  admit(): void {
    const now = performance.now();
    if (now >= this.nextTrialAt) {
      this.nextTrialAt = now + TRIAL_EVERY_MS;
      return;
    }
    this.rejected++;
    throw new CircuitOpenError(CIRCUIT_OPEN);
  }

  /**
   * The result of a lookup that was admitted, of however many commands; rejects when its deadline has passed.
   *
   * @param since when it began, by `performance.now()`, if that is not now.
   */
  async settle<Result>(lookup: Promise<Result>, since?: number): Promise<Result> {
    const { timeoutMs } = this.options;
    const ms =
      since === undefined ? timeoutMs : Math.max(1, Math.ceil(timeoutMs - (performance.now() - since)));
    try {
      const result = await withDeadline(lookup, ms, 'check');
      this.failures = 0;
      if (this.isCircuitOpen) this.closeCircuit();
      return result;
    } catch (error) {
      // What was left of the time may have been too little for any server.
      if (2 * ms >= timeoutMs) this.failed(error);
      // A late reply: the server is there, so the next lookup shows whether it is fast enough again.
      lookup.then(
        () => (this.nextTrialAt = 0),
        () => {},
      );
      throw error;
    }
  }

  /** Called also when nobody asks this server any more. */
  closeCircuit(): void {
    if (!this.isCircuitOpen) return;
    const { rejected } = this;
    this.isCircuitOpen = false;
    this.rejected = 0;
    this.options.emit({ type: 'circuit-closed', rejected, ...this.where });
  }

  private failed(error: unknown): void {
    this.failures++;
    if (this.failures !== FAILURES_TO_OPEN) return;
    this.isCircuitOpen = true;
    this.nextTrialAt = performance.now() + TRIAL_EVERY_MS;
    this.options.emit({ type: 'circuit-opened', error, ...this.where });
  }

  private get where() {
    return this.node === undefined ? {} : { node: this.node };
  }
}

export interface LookupOptions {
  readonly emit: BloomEventListener;
  /** Deadline of a lookup. */
  readonly timeoutMs: number;
}

/** The node that has a key, as the client knows it, and its lookups: a silent node stops no others. */
export class LookupsByNode {
  private readonly slots = new Map<string, number>();
  private readonly byNode = new Map<string, NodeLookups>();
  private readonly whole: NodeLookups;
  /** How many connections have ended or begun. */
  private epoch = 0;

  constructor(
    private readonly client: RedisClient,
    private readonly options: LookupOptions,
  ) {
    this.whole = this.named(new NodeLookups(undefined, options));
  }

  of(key: string): NodeLookups {
    const { nodes } = this.client;
    return nodes ? this.ofNode(this.nodeOf(key, nodes)) : this.whole;
  }

  /** All masters; undefined where there is one server. */
  private get masters(): Set<string> | undefined {
    const { nodes } = this.client;
    return nodes && new Set(nodes.all());
  }

  /** 1 for a single server, and while the client has not asked the cluster. */
  get masterCount(): number {
    return this.masters?.size || 1;
  }

  /** Whether there are no other servers, as far as is known. */
  get isOneServer(): boolean {
    return (this.masters?.size ?? 1) === 1;
  }

  /** To be called when a connection has ended or begun. */
  beginEpoch(): void {
    this.epoch++;
    for (const lookups of this.all()) this.named(lookups);
  }

  /** To be called when nothing that was sent is answered any more. */
  forgetWaiting(): void {
    for (const lookups of this.all()) lookups.reads = { waiting: 0 };
  }

  /** Drops the nodes that no slot is on any more. */
  dropUnused(): void {
    const { masters } = this;
    for (const [node, lookups] of this.byNode) {
      if (masters?.has(node)) continue;
      lookups.closeCircuit();
      this.byNode.delete(node);
    }
  }

  private nodeOf(key: string, nodes: RedisNodes): string {
    let slot = this.slots.get(key);
    if (slot === undefined) {
      slot = clusterSlot(this.client.keyPrefix + key);
      this.slots.set(key, slot);
    }
    return nodes.masterOf(slot);
  }

  private ofNode(node: string): NodeLookups {
    let lookups = this.byNode.get(node);
    if (!lookups) {
      lookups = this.named(new NodeLookups(node, this.options));
      this.byNode.set(node, lookups);
    }
    return lookups;
  }

  private all(): NodeLookups[] {
    return [this.whole, ...this.byNode.values()];
  }

  private named(lookups: NodeLookups): NodeLookups {
    const { node } = lookups;
    lookups.server = node === undefined ? String(this.epoch) : `${this.epoch} ${node}`;
    return lookups;
  }
}
