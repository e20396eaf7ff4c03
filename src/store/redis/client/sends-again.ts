import type { Cluster, Redis } from 'ioredis';
import { isCluster } from './lookups-by-node.js';

/** Whether the client sends again, on its next connection, what was on its way when the last one ended. */
export function sendsAgain(client: Redis | Cluster): boolean {
  const { autoResendUnfulfilledCommands } = isCluster(client)
    ? (client.options.redisOptions ?? {})
    : client.options;
  return autoResendUnfulfilledCommands !== false;
}
