import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { luaSources } from '../../../support/lua-sources.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

const STATES = ' unbuilt lost suspect ';
const FORMAT = '2';
/** A string of one byte, without canaries or a head. */
const PROOF = Buffer.from([0, 0, 0, 1, 0]);

/** What both scripts are called with, up to where each goes on in its own way. */
const ADOPTS = {
  bitmapAdopt: [STATES, FORMAT, PROOF, 0, 1, 0, 'token', 'mine'],
  bfAdopt: [STATES, FORMAT, 0, 0, 'mine'],
};

async function adopt(script: keyof typeof ADOPTS, fields: Record<string, string>): Promise<string> {
  const name = redis.name();
  const [meta, data] = [`{${name}}:meta`, `{${name}}:data`];
  await admin.hset(meta, fields);
  return String(await admin.eval(luaSources[script].source, 2, meta, data, ...ADOPTS[script]));
}

const scripts = Object.keys(ADOPTS) as (keyof typeof ADOPTS)[];

it.each(scripts)(
  '%s leaves metadata alone whose state is only a part of one that it may take',
  async (script) => {
    for (const state of ['', 'un', 'los', 'lost suspect', 'ready']) {
      expect([state, await adopt(script, { format: FORMAT, state })]).toEqual([state, 'STALE']);
    }
  },
);

it.each(scripts)('%s leaves metadata of another format alone', async (script) => {
  expect(await adopt(script, { format: '3', state: 'lost' })).toBe('STALE');
  expect(await adopt(script, { state: 'lost' })).toBe('STALE');
});

it.each(scripts)('%s leaves a filter alone that is live', async (script) => {
  expect(await adopt(script, { format: FORMAT, state: 'lost', token: 'theirs' })).toBe('STALE');
});

it('takes a filter that is lost', async () => {
  expect(await adopt('bitmapAdopt', { format: FORMAT, state: 'lost' })).toBe('OK');
  expect(await adopt('bfAdopt', { format: FORMAT, state: 'lost' })).toBe('MISSING');
});
