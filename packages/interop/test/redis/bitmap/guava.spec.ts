import { guavaPeer } from '../../support/peers/guava-peer.js';
import { describePeersKey } from './contract.js';
import { describePeersRebuild } from './rebuild-contract.js';

describePeersKey(guavaPeer({ capacity: 1000, errorRate: 0.001 }));
describePeersRebuild(guavaPeer({ capacity: 10_000, errorRate: 0.0001 }));
