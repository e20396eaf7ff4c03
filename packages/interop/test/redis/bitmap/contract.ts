import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BloomIdError } from 'nestjs-bloom/filter';
import { BloomUnavailableError, type StoredFilter } from 'nestjs-bloom/store';
import { runRebuild } from '../../../../../src/rebuild/index.js';
import { idsOf } from '../../../../../test/support/built-filter.js';
import { expectFound, expectNeverAbsent } from '../../../../../test/support/never-absent.js';
import { deniedByPeer, type Peer, fillByPeer } from '../../support/peers/peer.js';
import { rebuildJob, sourceOf } from '../../../../../test/support/rebuild-job.js';
import { type Instance, RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { adoptable } from '../../../../../test/support/abilities.js';

const BUILT = idsOf('built', 100);

type Damage = (client: Redis, peer: Peer, key: string, meta: string) => Promise<unknown>;

const DAMAGES: Record<string, Damage> = {
  FLUSHALL: (client) => client.flushall(),
  'the key is deleted': (client, _, key) => client.del(key),
  'the key is emptied': (client, _, key) => client.set(key, ''),
  'the key is of another type': async (client, _, key) => {
    await client.del(key);
    await client.rpush(key, 'x');
  },
  'the key is deleted and recreated by adds of the peer': async (client, peer, key) => {
    await client.del(...peer.keys(key));
    await fillByPeer(peer, client, key, idsOf('other', 40));
  },
  'the key is cut short': async (client, _, key) => {
    const value = (await client.getBuffer(key))!;
    await client.set(key, value.subarray(0, value.length - 1));
  },
  'an eighth of the key is cut off, and the peer makes it as long as it was': async (client, _, key) => {
    const value = (await client.getBuffer(key))!;
    await client.set(key, value.subarray(0, Math.floor((value.length * 7) / 8)));
    await client.setbit(key, 8 * value.length - 1, 1);
  },
  'the key is longer than the filter': (client, _, key) => client.append(key, 'x'),
  'the key is all zeros': async (client, _, key) => {
    const value = (await client.getBuffer(key))!;
    await client.set(key, Buffer.alloc(value.length));
  },
  'most of the key is zeros': async (client, _, key) => {
    const most = Math.floor((await client.strlen(key)) * 0.9);
    await client.setrange(key, 0, Buffer.alloc(most) as unknown as string);
  },
  'the metadata are deleted': (client, _, __, meta) => client.del(meta),
  'the metadata are a list': async (client, _, __, meta) => {
    await client.del(meta);
    await client.rpush(meta, 'x');
  },
  'the metadata have other settings': (client, _, __, meta) =>
    client.hset(meta, 'settings', '{"bits":64,"hashCount":1,"encoding":"utf8"}'),
  'the metadata have other canaries': (client, _, __, meta) => client.hset(meta, 'canaries', '1 2 3'),
  'the metadata have another token': (client, _, __, meta) => client.hset(meta, 'token', 'x'),
  'key and metadata are deleted, and the peer adds': async (client, peer, key, meta) => {
    await client.del(meta, ...peer.keys(key));
    await fillByPeer(peer, client, key, idsOf('other', 10));
  },
};

/** What a filter on the keys of a peer does, whatever the layout. */
export function describePeersKey(peer: Peer): void {
  describe(`A filter on the keys of ${peer.name}`, () => {
    let redis: RedisFixture;
    let admin: Redis;

    beforeAll(async () => {
      redis = await RedisFixture.start();
      admin = redis.client();
    });
    afterAll(() => redis.close());

    const metaOf = (key: string) => `{${key}}:nestjs-bloom:meta`;
    const open = (key: string, hasSource = false): Promise<Instance> =>
      redis.open(key, {}, { layout: peer.layout(key), hasSource });
    const rebuild = (filter: StoredFilter, ids: readonly string[]) =>
      runRebuild(rebuildJob(filter, sourceOf(ids), { drainMs: 0 }));

    /** A filter that the peer has filled, and one process that has taken it as it is. */
    async function adopted() {
      const key = redis.name();
      await fillByPeer(peer, admin, key, BUILT);
      const instance = await open(key);
      await expectFound([instance.filter], BUILT);
      return { key, ...instance };
    }

    describe('that the peer fills and no source rebuilds', () => {
      it('is taken as it is at first sight', async () => {
        const { filter } = await adopted();
        expect(await filter.check(['absent-1', 'absent-2'])).toEqual(['absent', 'absent']);
        expect(await filter.describe()).toMatchObject({ state: 'ready', builds: 0, rebuilding: false });
        const { count, shape } = await filter.describe();
        expect(Math.abs(count - BUILT.length)).toBeLessThan(10);
        expect(shape!.modelledErrorRate).toBeLessThan(1e-3);
        expect(shape!.fillRatio).toBeGreaterThan(0);
      });

      it('is unknown while there is no key, and nothing here makes one', async () => {
        const key = redis.name();
        const { filter } = await open(key);
        expect(await filter.check(['a'])).toEqual(['unknown']);
        await expect(filter.add(['a'])).rejects.toThrow(BloomUnavailableError);
        expect(await filter.describe()).toMatchObject({ state: 'unbuilt', shape: undefined });
        expect(await admin.exists(key)).toBe(0);
        await expect(adoptable(filter).adopt()).rejects.toThrow(/There is no key|unavailable/);
      });

      it('is ready as soon as the peer has made it', async () => {
        const key = redis.name();
        const { filter } = await open(key);
        expect(await filter.check(['a'])).toEqual(['unknown']);
        await fillByPeer(peer, admin, key, ['a']);
        await expectFound([filter], ['a']);
        expect(await filter.check(['b'])).toEqual(['absent']);
      });

      it('waits for somebody to say so, if it is told to', async () => {
        const key = redis.name();
        await fillByPeer(peer, admin, key, ['a']);
        const layout = peer.layout(key, { adopt: 'explicit' });
        const { filter } = await redis.open(key, {}, { layout, hasSource: false });
        expect(await filter.check(['b'])).toEqual(['unknown']);
        await expect(filter.add(['b'])).rejects.toThrow(/adopt/);
        await adoptable(filter).adopt();
        expect(await filter.check(['a', 'b'])).toEqual(['maybe', 'absent']);
      });

      it('is one filter for both sides', async () => {
        const { key, filter } = await adopted();
        await peer.add(admin, key, 'by the peer');
        expect(await filter.check(['by the peer', 'by nobody'])).toEqual(['maybe', 'absent']);
        expect(await filter.add(['from here', 'by the peer', 'from here'])).toEqual([true, false, false]);
        expect(await peer.has(admin, key, 'from here')).toBe(true);
        expect(await peer.has(admin, key, 'by nobody')).toBe(false);
      });

      it('does not answer "absent" for an id that is too long, and does not take it', async () => {
        const { filter } = await adopted();
        const long = 'x'.repeat(65);
        expect(await filter.check([long, 'absent-1'])).toEqual(['unknown', 'absent']);
        await expect(filter.add(['a', long])).rejects.toThrow(BloomIdError);
        const calls = await Promise.allSettled(['c', long].map((id) => filter.add([id])));
        expect(calls.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
        expect(await filter.check(['a', 'c'])).toEqual(['absent', 'maybe']);
      });

      it('serves many ids in one call, in order', async () => {
        const { filter } = await adopted();
        const ids = idsOf('many', 1000);
        await filter.add(ids.filter((_, i) => i % 100 === 0));
        const verdicts = await filter.check(ids);
        expect(verdicts.filter((_, i) => i % 100 === 0)).toEqual(Array(10).fill('maybe'));
        expect(verdicts.filter((verdict) => verdict === 'absent').length).toBeGreaterThan(980);
        expect(await filter.check([])).toEqual([]);
        expect(await filter.add([])).toEqual([]);
      });

      it.each(Object.keys(DAMAGES))('never answers "absent" for its ids when %s', async (damage) => {
        const { key, filter, events } = await adopted();
        const other = await open(key);
        await filter.add(['added here']);
        await peer.add(admin, key, 'added by the peer');
        const ids = [...BUILT, 'added here', 'added by the peer'];
        await expectFound([other.filter], ids);
        await DAMAGES[damage]!(admin, peer, key, metaOf(key));
        for (let round = 0; round < 2; round++) await expectNeverAbsent([filter, other.filter], ids);
        // What is cut off or put behind is seen by who asks for an absent id, edited metadata by who reads
        // them.
        await filter.check(['absent-1']);
        expect((await filter.describe()).state).toBe('lost');
        expect(await filter.check(['absent-1'])).toEqual(['unknown']);
        expect(events.filter(({ type }) => type === 'state-changed')).toHaveLength(1);
        await expect(filter.add(['late'])).rejects.toThrow(/lost/);
        expect((await (await open(key)).filter.check(ids)).includes('absent')).toBe(false);
      });

      it('is ready again when somebody says that its owner has filled it', async () => {
        const { key, filter } = await adopted();
        await admin.del(...peer.keys(key));
        expect(await filter.check(['absent-1'])).toEqual(['unknown']);
        await fillByPeer(peer, admin, key, ['a']);
        expect(await filter.check(['a'])).toEqual(['unknown']);
        await adoptable(filter).adopt();
        expect(await filter.check(['a', 'built-1'])).toEqual(['maybe', 'absent']);
        await adoptable(filter).adopt();
        expect(await filter.check(['a'])).toEqual(['maybe']);
      });

      it('is unknown for everybody once it is distrusted', async () => {
        const { key, filter } = await adopted();
        const other = await open(key);
        await expectFound([other.filter], BUILT);
        await filter.distrust('A reason.');
        expect(await other.filter.check(['absent-1'])).toEqual(['unknown']);
        expect((await filter.describe()).state).toBe('suspect');
      });
    });

    describe('that a source rebuilds', () => {
      it('is not taken as it is: it waits for the rebuild', async () => {
        const key = redis.name();
        await fillByPeer(peer, admin, key, ['a']);
        const { filter } = await open(key, true);
        expect(await filter.check(['a'])).toEqual(['unknown']);
        expect(await filter.add(['b', 'a'])).toEqual([true, false]);
        expect(await peer.has(admin, key, 'b')).toBe(true);
        await rebuild(filter, BUILT);
        await expectFound([filter], [...BUILT, 'a', 'b']);
        expect(await filter.describe()).toMatchObject({ state: 'ready', builds: 1, builtIds: 100 });
        expect(await deniedByPeer(peer, admin, key, [...BUILT, 'a', 'nothing'])).toEqual(['nothing']);
      });

      it('is made by the rebuild when there is no key', async () => {
        const key = redis.name();
        const { filter } = await open(key, true);
        await rebuild(filter, BUILT);
        expect(await filter.check(['built-1', 'nothing'])).toEqual(['maybe', 'absent']);
        expect(await deniedByPeer(peer, admin, key, BUILT)).toEqual([]);
        await peer.add(admin, key, 'later');
        expect(await filter.check(['later'])).toEqual(['maybe']);
        const left = (await admin.keys(`*${key}}:nestjs-bloom:*`)).sort();
        expect(left).toEqual([metaOf(key)]);
      });

      it.each(Object.keys(DAMAGES))('is brought back by a rebuild when %s', async (damage) => {
        const key = redis.name();
        const [one, two] = [(await open(key, true)).filter, (await open(key, true)).filter];
        await rebuild(one, BUILT);
        await one.add(['added']);
        await expectFound([two], [...BUILT, 'added']);
        await DAMAGES[damage]!(admin, peer, key, metaOf(key));
        await expectNeverAbsent([one, two, (await open(key, true)).filter], [...BUILT, 'added']);
        await one.check(['absent-1']);
        await two.add(['late']);
        if (peer.deletedBeforeRebuild.test(damage)) {
          await expect(rebuild(one, BUILT)).rejects.toThrow(/left alone/);
          await admin.del(key);
        }
        await rebuild(one, [...BUILT, 'added', 'late']);
        await expectFound([one, two], [...BUILT, 'added', 'late']);
        expect(await two.check(['nothing'])).toEqual(['absent']);
      });
    });
  });
}
