import type { Redis } from 'ioredis';
import { redisson, type RedissonLayoutOptions } from '../../../src/index.js';
import type { Peer } from './peer.js';

/** What `tryInit`, `add` and `contains` of RBloomFilter send. */
const TRY_INIT = `if redis.call('exists', KEYS[1]) == 1 then return 0 end
redis.call('hset', KEYS[1], 'size', ARGV[1], 'hashIterations', ARGV[2], 'expectedInsertions', ARGV[3], 'falseProbability', ARGV[4])
return 1`;
const ASSERT = `local size = redis.call('hget', KEYS[1], 'size')
local hashIterations = redis.call('hget', KEYS[1], 'hashIterations')
local isSame = size == ARGV[1] and hashIterations == ARGV[2]
`;
const ADD = `${ASSERT}assert(isSame, 'Bloom filter config has been changed')
local k, added, c = tonumber(ARGV[3]), 0, 0
for i = 4, #ARGV do
  if redis.call('setbit', KEYS[2], ARGV[i], 1) == 0 then c = c + 1 end
  if (i - 3) % k == 0 then
    if c > 0 then added = added + 1 end
    c = 0
  end
end
return added`;
const CONTAINS = `${ASSERT}if not isSame then return 0 end
for i = 3, #ARGV do
  if redis.call('getbit', KEYS[2], ARGV[i]) == 0 then return 0 end
end
return 1`;

const REDISSON_TARGET = { capacity: 1000, errorRate: 0.001 };

export function redissonPeer(
  settings: Pick<RedissonLayoutOptions, 'codec' | 'type'>,
  target = REDISSON_TARGET,
  more: Partial<RedissonLayoutOptions> = {},
): Peer {
  const resolved = async (client: Redis, key: string, id: string) => {
    const { config } = redisson.keys(key);
    const { bits, hashCount } = redisson.readConfig(await client.hgetall(config));
    return {
      config,
      bits,
      hashCount,
      places: redisson.layout({ bits, hashCount, ...settings }).positions(id),
    };
  };
  const add = async (client: Redis, key: string, id: string): Promise<boolean> => {
    const { config, bits, hashCount, places } = await resolved(client, key, id);
    try {
      return (await client.eval(ADD, 2, config, key, bits, hashCount, hashCount, ...places)) === 1;
    } catch (error) {
      // Redisson reads the config again.
      if (String(error).includes('config has been changed')) return add(client, key, id);
      throw error;
    }
  };
  return {
    name: `Redisson (${settings.codec})`,
    layout: (name, options) => redisson({ name, ...settings, ...more, ...options }),
    deletedBeforeRebuild: /another type|longer/,
    keys: (key) => [key, redisson.keys(key).config],
    init: async (client, key) => {
      const { size, hashIterations, expectedInsertions, falseProbability } = redisson.writeConfig({
        ...redisson.size(target),
        ...target,
      });
      const fields = [size, hashIterations, expectedInsertions, falseProbability];
      await client.eval(TRY_INIT, 1, redisson.keys(key).config, ...fields);
    },
    add,
    has: async (client, key, id) => {
      const { config, bits, hashCount, places } = await resolved(client, key, id);
      return (await client.eval(CONTAINS, 2, config, key, bits, hashCount, ...places)) === 1;
    },
  };
}
