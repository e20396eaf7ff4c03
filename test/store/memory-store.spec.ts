import { systemClock } from '../../src/common/index.js';
import { MemoryStore } from '../../src/store/memory/index.js';
import { describeStoreContract } from './contract.js';

describeStoreContract('MemoryStore', async () =>
  new MemoryStore().open({ name: 'products', emit: () => {}, clock: systemClock }),
);
