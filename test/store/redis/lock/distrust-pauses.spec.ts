import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { goZero } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';
import type { OpenFilterOptions } from '../../../../src/store/index.js';
import { build } from '../../../support/built-filter.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

const PAUSES = { firstMs: 60_000, lastMs: 200_000 };
const WAITS_MS = [60_000, 120_000, 200_000, 200_000];

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

const KINDS: [string, Partial<OpenFilterOptions>, string][] = [
  ['one generation', {}, 'bloom:{NAME}:builds'],
  ['layers', { layout: scaling(), hasSource: false }, 'bloom:{NAME}:builds'],
  ['a peer', { layout: goZero({ key: 'peer', bits: 65536 }) }, '{peer}:nestjs-bloom:builds'],
];

it.each(KINDS)(
  'A filter of %s is distrusted no sooner by a process that starts later',
  async (_, options, key) => {
    const name = redis.name();
    const facts = key.replace('NAME', name);
    const distrust = async () => {
      const { filter, close } = await redis.open(name, {}, options);
      await build(filter, ['a']);
      const distrusted = await filter.distrust('A test.', PAUSES);
      expect((await filter.describe()).state).toBe(distrusted ? 'suspect' : 'ready');
      await close();
      return distrusted;
    };
    const setBack = async (ms: number) => {
      await admin.hincrby(facts, 'distrusted', -ms);
    };
    expect(await distrust()).toBe(true);
    expect(await distrust()).toBe(false);
    for (const [i, waitMs] of WAITS_MS.entries()) {
      expect(Number(await admin.hget(facts, 'distrustWait'))).toBe(waitMs);
      await setBack(waitMs - 5_000);
      expect(await distrust()).toBe(false);
      await setBack(5_000);
      expect([i, await distrust()]).toEqual([i, true]);
    }
    await setBack(400_001);
    expect(await distrust()).toBe(true);
    expect(await admin.hget(facts, 'distrustWait')).toBe('60000');
    await setBack(-1e9);
    expect(await distrust()).toBe(true);
  },
);
