import { redissonPeer } from '../../../support/peers/redisson-peer.js';
import { describeForeign } from './contract.js';
import { describeForeignRebuild } from './rebuild-contract.js';

describeForeign(redissonPeer({ codec: 'StringCodec' }));
describeForeignRebuild(redissonPeer({ codec: 'Kryo5Codec' }, { capacity: 20_000, errorRate: 0.001 }));
