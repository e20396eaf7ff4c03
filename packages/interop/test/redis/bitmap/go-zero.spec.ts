import { goZeroPeer } from '../../support/peers/go-zero-peer.js';
import { describePeersKey } from './contract.js';
import { describePeersRebuild } from './rebuild-contract.js';

describePeersKey(goZeroPeer(20_000));
describePeersRebuild(goZeroPeer(200_000));
