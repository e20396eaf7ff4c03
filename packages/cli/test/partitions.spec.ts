import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { PartitioningStore } from '../../../src/store/partitions/index.js';
import { partName } from 'nestjs-bloom/internal';
import { build, idsOf } from '../../../test/support/built-filter.js';
import { openOptions } from '../../../test/support/open-options.js';
import { RedisFixture } from '../../../test/support/redis-fixture.js';
import { runHere } from './support/in-process.js';

let redis: RedisFixture;
let client: Redis;
let name: string;
beforeAll(async () => {
  redis = await RedisFixture.start();
  client = redis.client();
  name = redis.name();
  const { store } = await redis.open(name);
  await build(new PartitioningStore(store).open(openOptions({ name, partitions: 4 })), idsOf('a', 200));
});
afterAll(() => redis.close());

const on = (...words: string[]) => runHere([...words, '--redis', redis.server.url]);

describe('The command line on a partitioned filter', () => {
  it('inspects all parts', async () => {
    const { stdout, code } = await on('inspect', name);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${name} +ready\n +4 of 4 parts ready, 200 of [\\d,]+ ids`));
    for (const part of [0, 1, 2, 3]) expect(stdout).toMatch(new RegExp(`part ${part} +ready, \\d+ of`));
    const found = JSON.parse((await on('inspect', name, '--json')).stdout) as Record<string, unknown>;
    expect(found).toMatchObject({ name, partitions: 4, state: 'ready' });
    const parts = found['parts'] as { found: { count: number; layout: string } }[];
    expect(parts.reduce((sum, part) => sum + part.found.count, 0)).toBe(200);
  });

  it('asks the part that an id is in', async () => {
    for (const id of idsOf('a', 8))
      expect((await on('check', name, id)).stdout).toMatch(/: maybe\n +Part \d of 4\./);
    expect((await on('check', name, 'nobody')).stdout).toMatch(/: absent\n +Part \d of 4\./);
  });

  it('says which part is lost', async () => {
    await client.del(`bloom:{${partName(name, 2)}}:0`);
    const { stdout } = await on('doctor', name);
    expect(stdout).toMatch(new RegExp(`${name}, part 2.*gone or damaged`));
    await client.del(`bloom:{${partName(name, 2)}}:meta`);
    const after = await on('inspect', name);
    expect(after.stdout).toMatch(new RegExp(`^${name} +missing\n +3 of 4 parts ready`));
  });
});
