import { springPeer } from '../../../support/peers/spring-peer.js';
import { describeForeign } from './contract.js';
import { describeForeignRebuild } from './rebuild-contract.js';

describeForeign(springPeer({ capacity: 1000, errorRate: 0.001 }));
describeForeignRebuild(springPeer({ capacity: 20_000, errorRate: 0.0001 }));
