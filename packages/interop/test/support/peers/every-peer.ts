import type { Peer } from './peer.js';
import { goZeroPeer } from './go-zero-peer.js';
import { guavaPeer } from './guava-peer.js';
import { redissonPeer } from './redisson-peer.js';

export const PEER_TARGET = { capacity: 1000, errorRate: 0.001 };

/** One of each system. */
export const EVERY_PEER: readonly Peer[] = [
  goZeroPeer(20_000),
  redissonPeer({ codec: 'StringCodec' }),
  guavaPeer(PEER_TARGET),
];
