import { MemoryStore } from '../../../src/store/memory/index.js';
import { describeStoreContract } from '../contract/store-contract.js';
import { openOptions } from '../../support/open-options.js';

describeStoreContract('MemoryStore', async () => new MemoryStore().open(openOptions()));
