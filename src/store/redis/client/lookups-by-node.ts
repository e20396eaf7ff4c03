import type { BloomEventListener } from '../../../common/index.js';
import { CircuitBreaker } from './circuit-breaker.js';

/** What the lookups that go to one server share. */
export interface NodeLookups {
  readonly breaker: CircuitBreaker;
  /** How many wait for a reply. */
  reads: { waiting: number };
}

/** The lookups of a connection, apart for each node of a cluster: one that does not answer must not keep lookups from the others. */
export class LookupsByNode {
  private readonly byNode = new Map<string, NodeLookups>();
  private readonly whole: NodeLookups;

  constructor(private readonly emit: BloomEventListener) {
    this.whole = this.open(undefined);
  }

  /** @param node of a cluster; undefined: there is one server. */
  of(node: string | undefined): NodeLookups {
    if (node === undefined) return this.whole;
    let lane = this.byNode.get(node);
    if (!lane) {
      lane = this.open(node);
      this.byNode.set(node, lane);
    }
    return lane;
  }

  /** To be called when nothing that was sent is answered any more. */
  forgetWaiting(): void {
    for (const lane of [this.whole, ...this.byNode.values()]) lane.reads = { waiting: 0 };
  }

  /** Drops the nodes that no slot is on any more. */
  keep(nodes: ReadonlySet<string>): void {
    for (const [node, { breaker }] of this.byNode) {
      if (nodes.has(node)) continue;
      breaker.end();
      this.byNode.delete(node);
    }
  }

  private open(node: string | undefined): NodeLookups {
    const where = node === undefined ? {} : { node };
    const breaker = new CircuitBreaker((change) => {
      if (change.open) this.emit({ type: 'circuit-opened', error: change.error, ...where });
      else this.emit({ type: 'circuit-closed', rejected: change.rejected, ...where });
    });
    return { breaker, reads: { waiting: 0 } };
  }
}
