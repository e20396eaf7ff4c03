import { spring } from '../../../src/interop/index.js';
import type { Peer } from './peer.js';

/** The helper's `setBit` and `getBit`, a command for each offset. */
export function springPeer(target: { capacity: number; errorRate: number }): Peer {
  const layout = spring.layout(spring.size(target));
  return {
    name: "Spring's BloomFilterHelper",
    layout: (key, options) => spring({ key, ...target, ...options }),
    deletedBeforeRebuild: /another type|longer/,
    keys: (key) => [key],
    init: async () => {},
    add: async (client, key, id) => {
      for (const offset of layout.positions(id)) await client.setbit(key, offset, 1);
      return undefined;
    },
    has: async (client, key, id) => {
      for (const offset of layout.positions(id)) if ((await client.getbit(key, offset)) === 0) return false;
      return true;
    },
  };
}
