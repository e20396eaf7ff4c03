import type { TestingModuleBuilder } from '@nestjs/testing';
import { BLOOM_STORE } from '../../src/module/index.js';
import { PartitioningStore } from '../../src/store/partitions/index.js';
import { RedisStore, type RedisStoreOptions } from '../../src/store/redis/index.js';
import { luaWithout, type Safety } from '../../test/support/broken-lua.js';

/** Connects the filters of an application by a store of these options; `without` names a safety of the protocol to take out. */
export function overrideStore(
  module: TestingModuleBuilder,
  {
    without,
    ...options
  }: Omit<RedisStoreOptions, 'keyPrefix' | 'luaSources'> & { without: Safety | undefined },
): void {
  const connect = async () =>
    new PartitioningStore(
      await RedisStore.connect({
        keyPrefix: 'bloom',
        ...options,
        ...(without && { luaSources: luaWithout(without) }),
      }),
    );
  module.overrideProvider(BLOOM_STORE).useFactory({ factory: connect });
}
