import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BloomConfigError, BloomUnavailableError } from '../../../../src/common/index.js';
import type { OpenFilterOptions, RebuildLease } from '../../../../src/store/index.js';
import { build, commitIds, idsOf, LEASE_MS, testPlan } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { type Instance, RedisFixture } from '../../../support/redis-fixture.js';
import { goZero } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

type Options = Partial<OpenFilterOptions>;

const KINDS: [string, Options][] = [
  ['one generation', {}],
  ['one generation, with a copy of it', { replica: 'verified' }],
  ['layers', { layout: scaling() }],
];

function open(owner: string | undefined, name: string, options: Options = {}): Promise<Instance> {
  return redis.open(name, { owner }, options);
}

describe.each(KINDS)('A filter of %s', (_, options) => {
  it('belongs to the application that built it, and is unknown to another one', async () => {
    const name = redis.name();
    const shop = await open('shop', name, options);
    await shop.filter.verify();
    await build(shop.filter, ['of the shop']);
    const crm = await open('crm', name, options);
    await expect(crm.filter.verify()).rejects.toThrow(BloomConfigError);
    await expect(crm.filter.verify()).rejects.toThrow(
      /'bloom:\{.*\}:meta' belongs to the application 'shop', and this one is 'crm'.*\(1\).*keyPrefix.*\(2\).*same owner.*\(3\).*set owner to 'shop'/,
    );
    for (let round = 0; round < 20; round++) {
      expect(await crm.filter.check(['of the shop', 'of the crm'])).toEqual(['unknown', 'unknown']);
    }
    await expect(crm.filter.add(['of the crm'])).rejects.toThrow(BloomUnavailableError);
    await expect(build(crm.filter, ['of the crm'])).rejects.toThrow(/belongs to the application 'shop'/);
    const told = crm.events.map(({ type }) => type);
    expect(told.filter((type) => type === 'other-owner')).toHaveLength(1);
    expect(told).not.toContain('circuit-opened');
    expect(await shop.filter.check(['of the shop', 'x'])).toEqual(['maybe', 'absent']);
  });

  it('is shared by applications of one owner, and with those that have none', async () => {
    const name = redis.name();
    const filters = [];
    for (const owner of ['shop', 'shop', undefined]) filters.push((await open(owner, name, options)).filter);
    await build(filters[0]!, ['a']);
    for (const filter of filters) await filter.verify();
    await filters[2]!.add(['b']);
    await filters[1]!.add(['c']);
    for (const filter of filters) {
      await filter.describe();
      expect(await filter.check(['a', 'b', 'c', 'x'])).toEqual(['maybe', 'maybe', 'maybe', 'absent']);
    }
    await expect(build(filters[2]!, ['d'])).rejects.toThrow(/belongs to an application.*no owner/);
    for (const filter of filters) expect(await filter.check(['c', 'd'])).toEqual(['maybe', 'absent']);
    expect(await admin.hget(`bloom:{${name}}:meta`, 'owner')).toBe('shop');
  });

  it('is claimed once by two that start on an empty server together', async () => {
    for (let round = 0; round < 5; round++) {
      const name = redis.name();
      const both = await Promise.all(['shop', 'crm'].map((owner) => open(owner, name, options)));
      await Promise.all(both.map(({ filter }) => filter.verify()));
      const builds = await Promise.allSettled(
        both.map(async ({ filter }, i) => {
          let lease: RebuildLease | undefined;
          await eventually('the lease is free', async () => {
            lease = await filter.lease({ leaseMs: LEASE_MS });
            return lease !== undefined;
          });
          try {
            await filter.describe();
            await commitIds(await lease!.stage(testPlan()), [`id-${i}`]);
          } finally {
            await lease!.release();
          }
        }),
      );
      expect(builds.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const owner = builds[0]!.status === 'fulfilled' ? 0 : 1;
      expect(await both[owner]!.filter.check([`id-${owner}`, 'x'])).toEqual(['maybe', 'absent']);
      expect(await both[1 - owner]!.filter.check([`id-${owner}`, 'x'])).toEqual(['unknown', 'unknown']);
    }
  });

  it('without an owner is claimed by the next build where nobody has a source', async () => {
    const name = redis.name();
    const sourceless = { ...options, hasSource: false };
    const [shop, crm] = [await open('shop', name, sourceless), await open('crm', name, sourceless)];
    await build((await open(undefined, name, sourceless)).filter, ['old']);
    for (const { filter } of [shop, crm]) {
      await filter.verify!();
      expect(await filter.check(['old', 'x'])).toEqual(['maybe', 'absent']);
    }
    await build(shop.filter, ['old', 'new']);
    await crm.filter.describe().catch(() => {});
    expect(await crm.filter.check(['old', 'x'])).toEqual(['unknown', 'unknown']);
    await expect(crm.filter.add(idsOf('crm', 10))).rejects.toThrow(BloomUnavailableError);
    expect(crm.events).toContainEqual(
      expect.objectContaining({ type: 'other-owner', owner: 'crm', found: 'shop' }),
    );
  });

  it('keeps its owner when its metadata make no sense, and is free when they were deleted', async () => {
    const name = redis.name();
    const shop = await open('shop', name, options);
    await build(shop.filter, ['a']);
    await admin.hset(`bloom:{${name}}:meta`, 'state', 'odd');
    const crm = await open('crm', name, options);
    await expect(crm.filter.verify()).rejects.toThrow(BloomConfigError);
    expect((await shop.filter.describe()).state).toBe('lost');
    await expect(crm.filter.verify()).rejects.toThrow(BloomConfigError);
    await admin.del(`bloom:{${name}}:meta`);
    await crm.filter.verify();
    await build(crm.filter, ['b']);
    expect(await crm.filter.check(['b', 'a'])).toEqual(['maybe', 'absent']);
    await shop.filter.describe().catch(() => {});
    expect(await shop.filter.check(['a', 'b'])).toEqual(['unknown', 'unknown']);
  });
});

describe.each(KINDS.slice(0, 2))('A filter with a source, of %s', (_, options) => {
  it('without an owner, as of an older version, is claimed by the first that looks', async () => {
    const name = redis.name();
    await build((await open(undefined, name, options)).filter, ['old']);
    const both = await Promise.all(['shop', 'crm'].map((owner) => open(owner, name, options)));
    const verified = await Promise.allSettled(both.map(({ filter }) => filter.verify!()));
    expect(verified.filter(({ status }) => status === 'rejected')).toEqual([
      { status: 'rejected', reason: expect.any(BloomConfigError) },
    ]);
    const first = verified[0]!.status === 'fulfilled' ? 0 : 1;
    const [owner, other] = [both[first]!, both[1 - first]!];
    expect(owner.events.filter(({ type }) => type === 'filter-claimed')).toHaveLength(1);
    expect(other.events.filter(({ type }) => type === 'filter-claimed')).toEqual([]);
    expect(await owner.filter.check(['old', 'x'])).toEqual(['unknown', 'unknown']);
    expect(await other.filter.check(['old', 'x'])).toEqual(['unknown', 'unknown']);
    await expect(other.filter.add(idsOf('other', 10))).rejects.toThrow(BloomUnavailableError);
    await expect(build(other.filter, ['new'])).rejects.toThrow(BloomUnavailableError);
    await build(owner.filter, ['old', 'new']);
    expect(await owner.filter.check(['new', 'x'])).toEqual(['maybe', 'absent']);
  });

  it('without an owner is claimed by a lookup too, when Redis was away at the start', async () => {
    const name = redis.name();
    await build((await open(undefined, name, options)).filter, ['old']);
    const shop = await open('shop', name, options);
    expect(await shop.filter.check(['old', 'x'])).toEqual(['unknown', 'unknown']);
    expect(shop.events.map(({ type }) => type)).toEqual(['state-changed', 'filter-claimed']);
    await expect((await open('crm', name, options)).filter.verify!()).rejects.toThrow(/belongs to .*'shop'/);
  });

  it('whose keys are gone is claimed again, and nobody else is named for it', async () => {
    const name = redis.name();
    const shop = await open('shop', name, options);
    await shop.filter.verify!();
    await build(shop.filter, ['a']);
    expect(await shop.filter.check(['a'])).toEqual(['maybe']);
    const keys = await admin.keys(`*{${name}}*`);
    await admin.del(...keys);
    expect((await shop.filter.describe()).state).toBe('lost');
    expect(await shop.filter.check(['a', 'x'])).toEqual(['unknown', 'unknown']);
    expect(shop.events.map(({ type }) => type)).not.toContain('filter-claimed');
    await expect((await open('crm', name, options)).filter.verify!()).rejects.toThrow(/belongs to .*'shop'/);
    await build(shop.filter, ['a']);
    expect(await shop.filter.check(['a', 'x'])).toEqual(['maybe', 'absent']);
  });

  it('without an owner denies nothing between its claim and the build of the one that claimed it', async () => {
    const name = redis.name();
    await build((await open(undefined, name, options)).filter, ['of the crm']);
    const claims = await open('shop', name, options);
    await claims.filter.verify!();
    await claims.close();
    for (let start = 0; start < 3; start++) {
      const { filter, close } = await open('shop', name, options);
      await filter.verify!();
      expect((await filter.describe()).state).toBe('suspect');
      expect(await filter.check(['of the shop', 'x'])).toEqual(['unknown', 'unknown']);
      await close();
    }
  });

  it('of another application is pointed out to one that has no owner', async () => {
    const name = redis.name();
    await build((await open('shop', name, options)).filter, ['a']);
    const nameless = await open(undefined, name, options);
    for (let look = 0; look < 3; look++) await nameless.filter.describe();
    expect(nameless.events).toEqual([
      {
        type: 'advice',
        filter: name,
        text: expect.stringMatching(/belongs to .*'shop'.*Set owner to 'shop'/),
      },
    ]);
  });
});

describe('A filter on a key of other systems', () => {
  const layout = goZero({ key: 'users', bits: 4096 });

  it('is shared by any applications without a source', async () => {
    await admin.setbit('users', 4095, 1);
    for (const owner of ['shop', 'crm']) {
      const { filter } = await open(owner, redis.name(), { layout, hasSource: false });
      await filter.verify();
      expect(await filter.add([owner])).toEqual([true]);
    }
    expect(await admin.hget('{users}:nestjs-bloom:meta', 'owner')).toBeNull();
  });

  it('is claimed by the first that can rebuild it', async () => {
    const mine = { layout: goZero({ key: 'old-orders', bits: 4096 }), hasSource: true };
    await build((await open(undefined, redis.name(), mine)).filter, ['old']);
    const shop = await open('shop', redis.name(), mine);
    await shop.filter.verify!();
    expect(shop.events.map(({ type }) => type)).toEqual(['state-changed', 'filter-claimed']);
    await expect((await open('crm', redis.name(), mine)).filter.verify!()).rejects.toThrow(BloomConfigError);
    expect(await shop.filter.check(['old', 'x'])).toEqual(['unknown', 'unknown']);
    await build(shop.filter, ['new']);
    expect(await shop.filter.check(['new', 'x'])).toEqual(['maybe', 'absent']);
  });

  it('belongs to one that rebuilds it', async () => {
    const mine = { layout: goZero({ key: 'orders', bits: 4096 }), hasSource: true };
    const shop = await open('shop', redis.name(), mine);
    await build(shop.filter, ['a']);
    const crm = await open('crm', redis.name(), mine);
    await expect(crm.filter.verify()).rejects.toThrow(
      /'\{orders\}:nestjs-bloom:meta' belongs to the application 'shop'/,
    );
    expect(await crm.filter.check(['a', 'x'])).toEqual(['unknown', 'unknown']);
    await expect(build(crm.filter, ['b'])).rejects.toThrow(BloomUnavailableError);
  });
});
