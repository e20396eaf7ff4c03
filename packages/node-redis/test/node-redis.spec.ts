import { describe, expect, it } from '@jest/globals';
import { createClient, createClientPool, createCluster, createSentinel } from 'redis';
import { BloomConfigError } from '../../../src/common/index.js';
import { describeRedisClient } from '../../../test/support/redis-client-contract.js';
import { fromNodeRedis } from '../src/index.js';

describeRedisClient('of node-redis', (url) => fromNodeRedis(createClient({ url })));

describe('fromNodeRedis', () => {
  const node = { url: 'redis://127.0.0.1:1' };
  const refused: Record<string, [make: () => void, why: RegExp]> = {
    'a Cluster': [
      // @ts-expect-error a Cluster is no such client
      () => fromNodeRedis(createCluster({ rootNodes: [node] })),
      /expected a client of createClient\(\).*a client of ioredis/,
    ],
    'a Sentinel': [
      () =>
        // @ts-expect-error a Sentinel is no such client
        fromNodeRedis(createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] })),
      /expected a client of createClient\(\)/,
    ],
    // @ts-expect-error a pool is no such client
    'a pool': [() => fromNodeRedis(createClientPool(node)), /expected a client of createClient\(\)/],
    // @ts-expect-error it has to be a client
    nothing: [() => fromNodeRedis(undefined), /got undefined/],
    'a client that reads from replicas': [
      () => fromNodeRedis(createClient({ ...node, readonly: true })),
      /readonly: true/,
    ],
  };
  it.each(Object.entries(refused))('refuses %s', (_, [make, why]) => {
    expect(make).toThrow(why);
    expect(make).toThrow(BloomConfigError);
  });

  it('takes clients of any protocol and mapping', () => {
    expect(fromNodeRedis(createClient({ RESP: 3 })).openClient).toEqual(expect.any(Function));
    expect(fromNodeRedis(createClient({ RESP: 2 }).withTypeMapping({ 36: Buffer }))).toBeDefined();
  });
});
