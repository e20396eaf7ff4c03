import { springPeer } from '../support/peers/spring-peer.js';
import { describeForeign } from './foreign-contract.js';
import { describeForeignRebuild } from './foreign-rebuild-contract.js';

describeForeign(springPeer({ capacity: 1000, errorRate: 0.001 }));
describeForeignRebuild(springPeer({ capacity: 20_000, errorRate: 0.0001 }));
