import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BloomFormatError } from '../../../../src/common/index.js';
import { cuckoo, redisBloom, type RedisBloomChunk } from '@nestjs-bloom/interop';
import { bfFixture, describeBf } from '../../../support/bf-server.js';
import { idsOf } from '../../../support/built-filter.js';
import type { RedisFixture } from '../../../support/redis-fixture.js';
import { readChunks } from '../../../../packages/interop/test/support/scan-dump.js';

const THERE = idsOf('i', 16);

describeBf('A dump during which the filter is written to', () => {
  let redis: RedisFixture;
  let admin: Redis;
  beforeAll(async () => {
    redis = await bfFixture();
    admin = redis.client();
  });
  afterAll(() => redis.close());

  async function header(key: string, commands: 'BF' | 'CF'): Promise<RedisBloomChunk> {
    const [iterator, data] = (await admin.callBuffer(`${commands}.SCANDUMP`, key, 0)) as [number, Buffer];
    return { iterator: Number(iterator), data };
  }

  async function cuckooFilter(expansion: number, ids = THERE): Promise<string> {
    const key = redis.name();
    await admin.call('CF.RESERVE', key, 16, 'BUCKETSIZE', 2, 'EXPANSION', expansion);
    for (const id of ids) await admin.call('CF.ADD', key, id);
    return key;
  }

  const del = (key: string, ids: readonly string[]) => each('CF.DEL', key, ids);
  const add = (key: string, ids: readonly string[]) => each('CF.ADD', key, ids);
  async function each(command: string, key: string, ids: readonly string[]): Promise<void> {
    for (const id of ids) await admin.call(command, key, id);
  }

  const WRITES: Record<string, (key: string) => Promise<unknown>> = {
    'removals and as many adds': async (key) => {
      await del(key, THERE.slice(0, 4));
      await add(key, idsOf('n', 4));
    },
    'one removal and one add': async (key) => {
      await del(key, THERE.slice(0, 1));
      await add(key, idsOf('n', 1));
    },
    adds: (key) => add(key, idsOf('n', 3)),
    'one add': (key) => add(key, ['n']),
    removals: (key) => del(key, THERE.slice(0, 5)),
    'adds of ids that are there': (key) => add(key, THERE.slice(0, 3)),
    'another filter in its place': async (key) => {
      await admin.del(key);
      await admin.call('CF.RESERVE', key, 16, 'BUCKETSIZE', 2, 'EXPANSION', 1);
      await add(key, idsOf('o', 7));
    },
  };

  it.each(Object.entries(WRITES).flatMap(([name, write]) => [1, 2].map((at) => [name, at, write] as const)))(
    'of CF.*: %s after %i chunks are seen by the header that is asked for again',
    async (_, at, write) => {
      const key = await cuckooFilter(0, THERE.slice(0, 8));
      const chunks = await readChunks(admin, key, 'CF', async (count) => count === at && write(key));
      const again = await header(key, 'CF');
      const read = () => cuckoo.read([...chunks, again]);
      expect(read).toThrow(BloomFormatError);
      expect(read).toThrow(/changed while it was dumped: dump a copy .* DUMP of the key and RESTORE/);
    },
  );

  it('of CF.*: a header that is the same again is no proof when the removals made it compact itself', async () => {
    const key = await cuckooFilter(1);
    const chunks = await readChunks(admin, key, 'CF', async (count) => {
      if (count === 2) await WRITES['removals and as many adds']!(key);
    });
    expect(chunks.length).toBeGreaterThan(2);
    const again = await header(key, 'CF');
    // The documented limit: only a copy at rest is proof.
    expect(Buffer.from(again.data)).toEqual(Buffer.from(chunks[0]!.data));
  });

  it('of CF.*: a second dump that is passed as well shows also that', async () => {
    const key = await cuckooFilter(1);
    const chunks = await readChunks(admin, key, 'CF', async (count) => {
      if (count === 2) await WRITES['removals and as many adds']!(key);
    });
    const second = await readChunks(admin, key, 'CF');
    expect(() => cuckoo.read([...chunks, ...second])).toThrow(
      /one value for byte .* changed while it was dumped/,
    );
    const third = await readChunks(admin, key, 'CF');
    expect(cuckoo.read([...second, ...third]).describe().ids).toBe(16);
  });

  it('of CF.*: the copy that the docs describe has every id, whatever is written meanwhile', async () => {
    const key = await cuckooFilter(1);
    const copy = `${key}:copy`;
    await expect(admin.copy(key, copy)).rejects.toThrow(/not supported for this module key/);
    await admin.restore(copy, 60_000, (await admin.dumpBuffer(key))!, 'REPLACE');
    const chunks = await readChunks(admin, copy, 'CF', async (count) => {
      if (count === 2) await WRITES['removals and as many adds']!(key);
    });
    const filter = cuckoo.read([...chunks, await header(copy, 'CF')]);
    for (const id of THERE) expect(filter.mightContain(id)).toBe(true);
    expect(filter.describe().ids).toBe(16);
  });

  it('of BF.*: one that grew meanwhile is refused', async () => {
    const key = redis.name();
    await admin.call('BF.RESERVE', key, 0.001, 16, 'EXPANSION', 1);
    await admin.call('BF.MADD', key, ...idsOf('i', 40));
    const chunks = await readChunks(admin, key, 'BF', async (count) => {
      if (count === 2) await admin.call('BF.MADD', key, ...idsOf('n', 40));
    });
    expect(() => redisBloom.read(chunks)).toThrow(/chunks within the links.* changed while it was dumped/);
    const again = await header(key, 'BF');
    expect(() => redisBloom.read([...chunks, again])).toThrow(/changed while it was dumped/);
    const whole = await readChunks(admin, key);
    expect(redisBloom.read([...whole, again]).mightContain('n-7')).toBe(true);
  });

  it('of BF.*: ids that were there are in it, and a header that differs is refused', async () => {
    const key = redis.name();
    await admin.call('BF.RESERVE', key, 0.001, 100);
    await admin.call('BF.MADD', key, ...idsOf('i', 40));
    const chunks = await readChunks(admin, key, 'BF', async (count) => {
      if (count === 1) await admin.call('BF.MADD', key, ...idsOf('n', 40));
    });
    const filter = redisBloom.read(chunks);
    for (const id of idsOf('i', 40)) expect(filter.mightContain(id)).toBe(true);
    const again = await header(key, 'BF');
    expect(() => redisBloom.read([...chunks, again])).toThrow(
      /the same header .* changed while it was dumped/,
    );
  });

  it('of BF.*: a filter that was recreated empty meanwhile is refused', async () => {
    const key = redis.name();
    const reserve = () => admin.call('BF.RESERVE', key, 0.1, 1000);
    await reserve();
    await admin.call('BF.MADD', key, ...idsOf('i', 900));
    const chunks = await readChunks(admin, key, 'BF', async (count) => {
      if (count !== 1) return;
      await admin.del(key);
      await reserve();
    });
    expect(() => redisBloom.read(chunks)).toThrow(/at least 9\d\d bits set|at least 8\d\d bits set/);
  });
});
