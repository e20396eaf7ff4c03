import type { Redis } from 'ioredis';
import type { RedisBloomChunk } from '../../src/index.js';

/** A filter as `BF.SCANDUMP` or `CF.SCANDUMP` gives it. */
export async function readChunks(
  redis: Redis,
  key: string,
  commands: 'BF' | 'CF' = 'BF',
  between: (chunks: number) => Promise<unknown> = async () => {},
): Promise<RedisBloomChunk[]> {
  const chunks: RedisBloomChunk[] = [];
  for (let asked = 0; ; asked = chunks.at(-1)!.iterator) {
    await between(chunks.length);
    const [iterator, data] = (await redis.callBuffer(`${commands}.SCANDUMP`, key, asked)) as [number, Buffer];
    if (Number(iterator) === 0) return chunks;
    chunks.push({ iterator: Number(iterator), data });
  }
}
