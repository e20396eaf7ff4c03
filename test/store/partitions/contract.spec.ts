import { afterAll, beforeAll } from '@jest/globals';
import { MemoryStore } from '../../../src/store/memory/index.js';
import { PartitioningStore } from '../../../src/store/partitions/index.js';
import type { OpenFilterOptions } from '../../../src/store/index.js';
import { partCapacity } from '../../../src/filter/index.js';
import { RedisFixture } from '../../support/redis-fixture.js';
import { openOptions } from '../../support/open-options.js';
import { describeStoreContract } from '../contract/store-contract.js';

const PARTITIONS = 4;

/**
 * An id over `maxIdBytes` is refused by its part; those of other parts are recorded, which makes them "maybe"
 * and nothing else.
 */
const TRAITS = {
  shapeOf: () => ({}),
  keepsMaxIdBytes: false,
  // The parts have room to spare: about 48 pass, with a standard deviation of 7.
  leastErrors: 5,
  capacityOf: (capacity: number) => PARTITIONS * partCapacity(capacity, PARTITIONS),
};

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

function options(name: string): OpenFilterOptions {
  return openOptions({ name, partitions: PARTITIONS });
}

describeStoreContract(
  'A partitioned filter in memory',
  async () => new PartitioningStore(new MemoryStore()).open(options('filter')),
  TRAITS,
);

describeStoreContract(
  'A partitioned filter in Redis',
  async () => {
    const name = redis.name();
    const { store } = await redis.open(name);
    return new PartitioningStore(store).open(options(name));
  },
  TRAITS,
);
