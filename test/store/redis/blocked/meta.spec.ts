import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BloomRebuildError, BloomUnavailableError } from '../../../../src/common/index.js';
import { build, idsOf, leaseOf, testPlan } from '../../../support/built-filter.js';
import { expectFound, expectNeverAbsent } from '../../../support/never-absent.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

const BUILT = idsOf('built', 100);

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

const FIELDS = ['format', 'state', 'layout', 'tag', 'key', 'blocks', 'hashCount', 'maxIdBytes'];
const NUMBERS = ['builds', 'count', 'ids', 'capacity', 'errorRate', 'builtAt', 'runId'];
const VALUES = [
  '',
  'nonsense',
  '-1',
  '0',
  '1',
  '2.5',
  '1e3',
  '64',
  '16777216',
  '999999999999999',
  '9'.repeat(30),
];

async function editable(plan = {}) {
  const name = redis.name();
  const reader = await redis.open(name);
  await build(reader.filter, BUILT, plan);
  await expectFound([reader.filter], BUILT);
  return { name, reader, meta: `bloom:{${name}}:meta` };
}

describe('When the metadata are edited by hand', () => {
  it.each([...FIELDS, ...NUMBERS])(
    'no process answers "absent" for an id of the filter, whatever %s says',
    async (field) => {
      const { name, reader, meta } = await editable();
      const original = await admin.hgetall(meta);
      const segment = await admin.getBuffer(`bloom:{${name}}:0`);
      for (const value of [...VALUES, undefined]) {
        if (field === 'format' && Number(value) > 1 && Number(value) < 1e9) continue;
        await admin.del(meta);
        await admin.hset(meta, original);
        await admin.set(`bloom:{${name}}:0`, segment!);
        await (value === undefined ? admin.hdel(meta, field) : admin.hset(meta, field, value));
        const newcomer = await redis.open(name);
        await expectNeverAbsent([newcomer.filter], BUILT);
        await newcomer.filter.add(['late']).catch((error: unknown) => {
          expect(error).toBeInstanceOf(BloomUnavailableError);
        });
        await expectNeverAbsent([newcomer.filter, reader.filter], BUILT);
        await newcomer.close();
      }
    },
  );

  it('so that two generations are mixed, no process answers "absent" for an id of the filter', async () => {
    const one = await editable();
    const two = await editable({ capacity: 5000 });
    for (const field of FIELDS.slice(3)) {
      const other = (await admin.hget(two.meta, field))!;
      const before = (await admin.hget(one.meta, field))!;
      await admin.hset(one.meta, field, other);
      await expectNeverAbsent([(await redis.open(one.name)).filter], BUILT);
      if (other !== before) await build(one.reader.filter, BUILT);
    }
  });

  it.each(['nonsense', '-1', '9223372036854775807'])(
    'adds come through again after a rebuild when the count was %s',
    async (count) => {
      const { reader, meta } = await editable();
      await admin.hset(meta, 'count', count);
      const failure = await reader.filter.add(['late']).catch((error: unknown) => error);
      if (failure instanceof Error) expect(failure).toBeInstanceOf(BloomUnavailableError);
      // The one that failed looks again, finds the metadata wrong and takes the filter offline.
      await reader.filter.add(['later']);
      await expectNeverAbsent([reader.filter], [...BUILT, 'later']);
      await build(reader.filter, [...BUILT, 'later']);
      expect(await reader.filter.add(['again'])).toEqual([true]);
    },
  );

  it('the staged generation is not taken for sound either', async () => {
    const { name, reader, meta } = await editable();
    for (const [field, value] of [
      ['pending.blocks', '7'],
      ['pending.hashCount', '3'],
      ['pending.key', '0'.repeat(16)],
      ['pending.tag', 'zzzzzzzz'],
      ['pending.maxIdBytes', '0'],
    ] as const) {
      const lease = await leaseOf(reader.filter);
      const staging = await lease.stage(testPlan());
      await admin.hset(meta, field, value);
      const adder = await redis.open(name);
      await adder.filter.add(['late']);
      const commit = staging.commit(0);
      await expect(commit).rejects.toThrow(BloomRebuildError);
      await lease.release();
      await expectNeverAbsent([reader.filter, adder.filter], ['late']);
      await build(reader.filter, [...BUILT, 'late']);
    }
  });
});

describe('A filter stored in a newer format', () => {
  async function newer() {
    const { name, meta } = await editable();
    await admin.hset(meta, 'format', '2', 'something', 'new');
    const before = await admin.hgetall(meta);
    const segment = await admin.getBuffer(`bloom:{${name}}:0`);
    const old = await redis.open(name);
    return {
      old,
      async expectUntouched() {
        expect(await admin.hgetall(meta)).toEqual(before);
        expect((await admin.getBuffer(`bloom:{${name}}:0`))!.equals(segment!)).toBe(true);
      },
    };
  }

  it('is unknown to an older version, which says so once', async () => {
    const { old, expectUntouched } = await newer();
    for (let round = 0; round < 3; round++) {
      expect(await old.filter.check(['built-0'])).toEqual(['unknown']);
      expect(await old.filter.check(BUILT)).toEqual(BUILT.map(() => 'unknown'));
    }
    expect(old.events.filter(({ type }) => type === 'newer-format')).toHaveLength(1);
    expect(old.events).toContainEqual(
      expect.objectContaining({ type: 'newer-format', found: '2', supported: '1' }),
    );
    await expectUntouched();
  });

  it('takes no add of an older version', async () => {
    const { old, expectUntouched } = await newer();
    await expect(old.filter.add(['late'])).rejects.toThrow(BloomUnavailableError);
    await expect(old.filter.add(['late', 'later'])).rejects.toThrow(/format 2.*Upgrade/s);
    await expectUntouched();
  });

  it('is neither described nor staged by an older version', async () => {
    const { old, expectUntouched } = await newer();
    await expect(old.filter.describe()).rejects.toThrow(BloomUnavailableError);
    const lease = await leaseOf(old.filter);
    await expect(lease.stage(testPlan())).rejects.toThrow(BloomUnavailableError);
    await lease.release();
    await expectUntouched();
  });
});
