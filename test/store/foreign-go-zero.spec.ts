import { goZeroPeer } from '../support/peers/go-zero-peer.js';
import { describeForeign } from './foreign-contract.js';
import { describeForeignRebuild } from './foreign-rebuild-contract.js';

describeForeign(goZeroPeer(20_000));
describeForeignRebuild(goZeroPeer(200_000));
