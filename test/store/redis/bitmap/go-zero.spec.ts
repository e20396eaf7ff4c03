import { goZeroPeer } from '../../../support/peers/go-zero-peer.js';
import { describeForeign } from './contract.js';
import { describeForeignRebuild } from './rebuild-contract.js';

describeForeign(goZeroPeer(20_000));
describeForeignRebuild(goZeroPeer(200_000));
