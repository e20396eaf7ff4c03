import { describe, expect, it, jest } from '@jest/globals';
import { createSentinel } from 'redis-5';
import { describeOnSentinel } from './on-sentinel.js';

// What the wing imports, where an application has this version.
jest.unstable_mockModule('redis', () => import('redis-5'));
const { fromNodeRedis } = await import('../src/index.js');

describeOnSentinel('options of a Sentinel of node-redis 5', fromNodeRedis);

describe('A Sentinel of node-redis 5', () => {
  it('is refused, since it does not tell its options', () => {
    const sentinel = createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] });
    // @ts-expect-error it has no duplicate()
    expect(() => fromNodeRedis(sentinel)).toThrow(/Pass the options themselves/);
  });
});
