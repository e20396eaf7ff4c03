import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BLOCK_BYTES, BlockedFilter } from '../../../../src/filter/index.js';
import type { CopyableFilter } from '../../../../src/store/index.js';
import { RANGE_BYTES, writeRange } from '../../../../src/store/redis/staging/segments.js';
import { build, idsOf } from '../../../support/built-filter.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

// Over one segment of 1 MiB, and few enough hashes that some ids have all their bits already.
const PLAN = { capacity: 1_000_000, errorRate: 0.01 };
const MANY = 1500;

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

it('writes the range of every block of a segment as lengths and decimal text', () => {
  const range = Buffer.alloc(1 + RANGE_BYTES, 0xff);
  for (let block = 0; block < 4096; block++) {
    const from = String(block * 256);
    const to = String(block * 256 + 255);
    const end = writeRange(range, 1, block);
    const expected = `${String.fromCharCode(from.length)}${from}${String.fromCharCode(to.length)}${to}`;
    expect(range.toString('latin1', 1, end)).toBe(expected);
  }
});

it('sets the bits that a local filter of the same generation would have, one by one and in bulk', async () => {
  const name = redis.name();
  const filter = (await redis.open(name)).filter as CopyableFilter;
  await build(filter, ['built'], PLAN);
  const { generation } = await filter.describe();
  const local = new BlockedFilter(generation!);
  local.addKey('built');

  const bulk = idsOf('bulk', MANY);
  expect(await filter.add([...bulk, 'bulk-0'])).toEqual([...bulk, 'bulk-0'].map((id) => local.addKey(id)));
  const single = idsOf('single', MANY / 10);
  const added = await Promise.all(single.map(async (id) => (await filter.add([id]))[0]));
  expect(added).toEqual(single.map((id) => local.addKey(id)));

  for (let first = 0; first < generation!.blocks; first += 256) {
    const stored = await filter.readBlocks(first, Math.min(256, generation!.blocks - first));
    const expected = local.bytes.subarray(first * BLOCK_BYTES, first * BLOCK_BYTES + stored.length);
    expect(Buffer.compare(stored, expected)).toBe(0);
  }
  const asked = [...bulk, ...idsOf('absent', MANY)];
  expect(await filter.check(asked)).toEqual(
    asked.map((id) => (local.mightContainKey(id) ? 'maybe' : 'absent')),
  );
});

it('answers ids of one block together as it answers them alone', async () => {
  const { filter } = await redis.open(redis.name());
  await build(filter, ['a'], { capacity: 10 });
  expect(await filter.add(['b', 'b', 'c', 'b'])).toEqual([true, false, true, false]);
  expect(await filter.check(['a', 'b', 'c', 'd', 'b'])).toEqual([
    'maybe',
    'maybe',
    'maybe',
    'absent',
    'maybe',
  ]);
});
