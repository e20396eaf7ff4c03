import { guavaPeer } from '../../../support/peers/guava-peer.js';
import { describeForeign } from './contract.js';
import { describeForeignRebuild } from './rebuild-contract.js';

describeForeign(guavaPeer({ capacity: 1000, errorRate: 0.001 }));
describeForeignRebuild(guavaPeer({ capacity: 10_000, errorRate: 0.0001 }));
