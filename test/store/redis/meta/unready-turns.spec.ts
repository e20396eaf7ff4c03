import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BloomLayout } from '../../../../src/filter/index.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import { goZero } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';
import { blocked } from '../../../../src/filter/index.js';

describe('Lookups in a loop leave the event loop its turns', () => {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await RedisFixture.start();
  });
  afterAll(() => redis.close());

  it.each<[string, BloomLayout]>([
    ['blocked', blocked],
    ['blocked, growing', scaling()],
    ['go-zero', goZero({ key: 'shared', bits: 10_000 })],
  ])('while a filter is not ready: %s', async (_, layout) => {
    const { filter } = await redis.open(redis.name(), {}, { layout });
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    turn();
    for (let i = 0; i < 200; i++) expect(await filter.check(['a'])).toEqual(['unknown']);
    isOver = true;
    expect(turns).toBeGreaterThan(150);
  });
});
