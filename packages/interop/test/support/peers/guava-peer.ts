import type { Redis } from 'ioredis';
import { guava } from '../../../src/index.js';
import type { Peer } from './peer.js';

/** Java that knows the layout of the string and sets single bits; `readFrom` to look an id up. */
export function guavaPeer(target: { capacity: number; errorRate: number }): Peer {
  const funnel = 'stringFunnel';
  /** The size is in the head. */
  const layoutOf = async (client: Redis, key: string) => {
    const head = await client.getrangeBuffer(key, 0, 5);
    return guava.layout({ bits: 64 * head.readInt32BE(2), hashCount: head[1]!, funnel });
  };
  return {
    name: 'Guava',
    layout: (key, options) => guava({ key, funnel, ...options }),
    deletedBeforeRebuild: /another type|longer|cut short|zeros/,
    keys: (key) => [key],
    init: async (client, key) => {
      await client.set(key, Buffer.from(guava.create({ ...target, funnel }).write()));
    },
    add: async (client, key, id) => {
      const layout = await layoutOf(client, key);
      const bits = layout.positions(id).map((place) => 48 + place - (place % 64) + (63 - (place % 64)));
      const old = await Promise.all(bits.map((bit) => client.setbit(key, bit, 1)));
      return old.includes(0);
    },
    has: async (client, key, id) => guava.read((await client.getBuffer(key))!, { funnel }).mightContain(id),
  };
}
