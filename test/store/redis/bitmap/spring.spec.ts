import { springPeer } from '../../../support/peers/spring-peer.js';
import { describePeersKey } from './contract.js';
import { describePeersRebuild } from './rebuild-contract.js';

describePeersKey(springPeer({ capacity: 1000, errorRate: 0.001 }));
describePeersRebuild(springPeer({ capacity: 20_000, errorRate: 0.0001 }));
