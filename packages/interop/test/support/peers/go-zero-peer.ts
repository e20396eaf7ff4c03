import { goZero } from '../../../src/index.js';
import type { Peer } from './peer.js';

/** What go-zero's two scripts do. */
const SET = `for _, offset in ipairs(ARGV) do redis.call('setbit', KEYS[1], offset, 1) end`;
const TEST = `for _, offset in ipairs(ARGV) do
  if tonumber(redis.call('getbit', KEYS[1], offset)) == 0 then return false end
end
return true`;

export function goZeroPeer(bits: number): Peer {
  const layout = goZero.layout({ bits });
  return {
    name: 'go-zero',
    layout: (key, options) => goZero({ key, bits, ...options }),
    deletedBeforeRebuild: /another type|longer/,
    keys: (key) => [key],
    init: async () => {},
    add: async (client, key, id) => {
      await client.eval(SET, 1, key, ...layout.positions(id));
      return undefined;
    },
    has: async (client, key, id) => (await client.eval(TEST, 1, key, ...layout.positions(id))) === 1,
  };
}
