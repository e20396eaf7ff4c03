import { describe, expect, it } from '@jest/globals';
import { createClient, createClientPool } from 'redis';
import { BloomConfigError } from '../../../src/common/index.js';
import { describeRedisClient } from '../../../test/support/redis-client-contract.js';
import { fromNodeRedis } from '../src/index.js';

describeRedisClient('of node-redis', (url) => fromNodeRedis(createClient({ url })));

describe('fromNodeRedis', () => {
  const node = { url: 'redis://127.0.0.1:1' };
  const refused: Record<string, [make: () => void, why: RegExp]> = {
    // @ts-expect-error a pool is no such client
    'a pool': [() => fromNodeRedis(createClientPool(node)), /expected what createClient\(\), createCluster/],
    'a Sentinel without sentinels': [
      () => fromNodeRedis({ name: 'main', sentinelRootNodes: [] }),
      /createSentinel\(\)/,
    ],
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
