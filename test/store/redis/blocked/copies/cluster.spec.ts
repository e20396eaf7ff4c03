import { afterAll, describe, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';
import { BloomConfigError } from '../../../../../src/common/index.js';
import { RedisStore } from '../../../../../src/store/redis/index.js';
import { openOptions } from '../../../../support/open-options.js';
import { PATIENT } from '../../../../support/patience.js';

const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true });
afterAll(() => cluster.disconnect());

describe('On a Cluster', () => {
  it.each([{ replica: 'leased' as const }, {}])('a filter with leases is refused (%j)', async (options) => {
    const store = await RedisStore.connect({
      redis: cluster,
      keyPrefix: 'bloom',
      trustAfterFailover: false,
      ...PATIENT,
      emit: () => {},
    });
    expect(() => store.open(openOptions({ leaseMs: 1000, ...options }))).toThrow(BloomConfigError);
    expect(() => store.open(openOptions({ leaseMs: 1000, ...options }))).toThrow(/Cluster.*'verified'/s);
    expect(store.open(openOptions({ replica: 'verified' }))).toBeDefined();
    await store.close();
  });
});
