import type { TestingModuleBuilder } from '@nestjs/testing';
import { BLOOM_STORE } from '../../src/module/index.js';
import { PartitioningStore } from '../../src/store/partitions/index.js';
import { LocalCopyStore } from '../../src/store/local-copy/index.js';
import { luaWithout, type Safety } from '../../test/support/broken-lua.js';
import { connectStore, type TestedStoreOptions } from '../../test/support/lua-client.js';

type UnsafeStoreOptions = Omit<TestedStoreOptions, 'keyPrefix' | 'lua'> & {
  readonly without: Safety | undefined;
  /** Whether filters may have copies in the process; default false. */
  readonly hasCopies?: boolean;
};

/**
 * Connects the filters of an application by a store of these options; `without` names a safety of the
 * protocol to take out.
 */
export function overrideStore(
  module: TestingModuleBuilder,
  { without, hasCopies = false, ...options }: UnsafeStoreOptions,
): void {
  const connect = async () => {
    const lua = without && luaWithout(without);
    const inRedis = await connectStore({ keyPrefix: 'bloom', ...options, lua });
    return new PartitioningStore(hasCopies ? new LocalCopyStore(inRedis) : inRedis);
  };
  module.overrideProvider(BLOOM_STORE).useFactory({ factory: connect });
}
