import { redissonPeer } from '../support/peers/redisson-peer.js';
import { describeForeign } from './foreign-contract.js';
import { describeForeignRebuild } from './foreign-rebuild-contract.js';

describeForeign(redissonPeer({ codec: 'StringCodec' }));
describeForeignRebuild(redissonPeer({ codec: 'Kryo5Codec' }, { capacity: 20_000, errorRate: 0.001 }));
