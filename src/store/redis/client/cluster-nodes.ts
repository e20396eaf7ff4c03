import type { Cluster, Redis } from 'ioredis';
import { clusterSlot } from './cluster-slot.js';

/** Which node of a cluster has a key, as the client knows it. Of a single server there is nothing to know. */
export class ClusterNodes {
  private readonly slots = new Map<string, number>();

  constructor(private readonly client: Redis | Cluster) {}

  /** Undefined where there is one server. */
  nodeOf(key: string): string | undefined {
    const { client } = this;
    if (!isCluster(client)) return undefined;
    let slot = this.slots.get(key);
    if (slot === undefined) {
      slot = clusterSlot((client.options.keyPrefix ?? '') + key);
      this.slots.set(key, slot);
    }
    return String(client.slots[slot]?.[0]);
  }

  /** All masters; undefined where there is one server. */
  masters(): Set<string> | undefined {
    const { client } = this;
    if (!isCluster(client)) return undefined;
    return new Set(client.slots.flatMap((nodes) => nodes?.[0] ?? []));
  }

  /** 1 for a single server, and while the client has not asked the cluster. */
  get masterCount(): number {
    return this.masters()?.size || 1;
  }

  /** Whether there are no other servers, as far as is known. */
  get isOneServer(): boolean {
    return (this.masters()?.size ?? 1) === 1;
  }
}

export function isCluster(client: Redis | Cluster): client is Cluster {
  return client.isCluster;
}
