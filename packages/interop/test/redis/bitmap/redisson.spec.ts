import { redissonPeer } from '../../support/peers/redisson-peer.js';
import { describePeersKey } from './contract.js';
import { describePeersRebuild } from './rebuild-contract.js';

describePeersKey(redissonPeer({ codec: 'StringCodec' }));
describePeersRebuild(redissonPeer({ codec: 'Kryo5Codec' }, { capacity: 20_000, errorRate: 0.001 }));
