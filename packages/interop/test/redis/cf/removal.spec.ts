import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import { BloomUnavailableError } from 'nestjs-bloom/store';
import { cuckoo } from '../../../src/index.js';
import { describeOwnBf, ownBfFixture } from '../../../../../test/support/bf-server.js';
import { luaReplacing } from '../../../../../test/support/broken-lua.js';
import {
  build as buildNow,
  commitIds,
  idsOf,
  leaseOf,
  mergeIds,
  testPlan,
} from '../../../../../test/support/built-filter.js';
import { eventually } from '../../../../../test/support/eventually.js';
import type { RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { TcpProxy } from '../../../../../test/support/tcp-proxy.js';
import { removable } from '../../../../../test/support/abilities.js';

const layout = cuckoo();
const target = { capacity: 100, errorRate: 0.05 };

type StoreOptions = Parameters<RedisFixture['open']>[1];

describeOwnBf('A removal from a cuckoo filter takes out no other id', () => {
  let redis: RedisFixture;
  let admin: Redis;
  beforeAll(async () => {
    redis = await ownBfFixture();
    admin = redis.client();
  });
  afterAll(() => redis.close());

  async function open(
    name = redis.name(),
    { drainMs = 0, ...options }: StoreOptions & { drainMs?: number } = {},
  ) {
    const { filter } = await redis.open(name, options, { layout, plan: testPlan(target), drainMs });
    return {
      name,
      filter,
      add: (id: string) => filter.add([id]),
      remove: async (id: string) => (await removable(filter).remove([id]))[0],
    };
  }

  /** A removal must have begun after the swap, as far as a round trip can tell. */
  const build: typeof buildNow = async (...args) => {
    await buildNow(...args);
    await delay(20);
  };
  const metaOf = (name: string) => `bloom:{${name}}:cf:nestjs-bloom:meta`;

  /** Ids of one fingerprint and the same two buckets: nobody can tell them apart. */
  async function alike(name: string, count: number): Promise<string[]> {
    const settings = JSON.parse((await admin.hget(metaOf(name), 'settings'))!);
    const table = cuckoo.layout(cuckoo.size({ ...settings, capacity: settings.slots }));
    const nameOf = (id: string) => `${Math.min(...table.positions(id))} ${table.fingerprintOf(id)}`;
    const wanted = nameOf('a');
    const found = ['a'];
    for (let i = 0; found.length < count; i++) if (nameOf(`id-${i}`) === wanted) found.push(`id-${i}`);
    return found;
  }

  it('when an id was never added, as far as that can be told: it is refused', async () => {
    const { filter, remove } = await open();
    await build(filter, idsOf('id', 50), target);
    const strangers = idsOf('other', 200);
    const verdicts = await filter.check(strangers);
    for (const id of strangers.filter((_, i) => verdicts[i] === 'absent'))
      expect(await remove(id)).toBe(false);
    expect(new Set(await filter.check(idsOf('id', 50)))).toEqual(new Set(['maybe']));
    expect((await filter.describe()).count).toBe(50);
  });

  it('when two ids cannot be told apart: each has a fingerprint of its own', async () => {
    const { name, filter, add, remove } = await open();
    // The canaries are random ids, now and then one that cannot be told from these.
    await eventually('no canary is like them', async () => {
      await build(filter, [], target);
      return (await filter.check(['a']))[0] === 'absent';
    });
    const [one, other] = (await alike(name, 2)) as [string, string];
    await add(one);
    await add(other);
    expect(await remove(one)).toBe(true);
    expect(await filter.check([one, other])).toEqual(['maybe', 'maybe']);
    expect(await remove(other)).toBe(true);
    expect(await filter.check([one, other])).toEqual(['absent', 'absent']);
    expect(await remove(other)).toBe(false);
  });

  it('when more cannot be told apart than are kept: none of them is removed any more', async () => {
    const { name, filter, add, remove } = await open();
    await build(filter, [], target);
    const ids = await alike(name, 6);
    for (const id of ids) await add(id);
    for (const id of ids) expect(await remove(id)).toBe(false);
    expect(new Set(await filter.check(ids))).toEqual(new Set(['maybe']));
  });

  it('while another process adds an id that cannot be told apart', async () => {
    const { name, filter, add, remove } = await open();
    const other = await open(name);
    await build(filter, [], target);
    const [gone, stays] = (await alike(name, 2)) as [string, string];
    for (let i = 0; i < 100; i++) {
      await add(gone);
      await Promise.all([remove(gone), other.add(stays)]);
      expect(await filter.check([stays])).toEqual(['maybe']);
      expect(await other.remove(stays)).toBe(true);
    }
    expect((await filter.describe()).count).toBe(0);
  });

  it('while a rebuild runs: the staged filter may not have the id', async () => {
    const { name, filter, remove } = await open(undefined, { drainMs: 60_000 });
    const settled = await open(name);
    await build(filter, ['a'], target);
    const [gone, stays] = (await alike(name, 2)) as [string, string];
    const lease = await leaseOf(filter);
    const staging = await lease.stage(testPlan(target));
    await mergeIds(staging, [stays]);
    expect(await settled.remove(gone)).toBe(true);
    await staging.commit(1);
    await lease.release();
    expect(await filter.check([stays])).toEqual(['maybe']);
    // Somebody who did not hear of it asks again; the row is gone as long as before.
    expect(await remove(gone)).toBe(false);
    expect(await filter.check([stays])).toEqual(['maybe']);
  });

  it('by a process that has not heard of the swap', async () => {
    const { name, filter } = await open();
    await build(filter, ['a', 'b'], target);
    const stale = await open(name, { drainMs: 60_000 });
    await stale.filter.check(['a']);
    const [gone, stays] = (await alike(name, 2)) as [string, string];
    await build(filter, [stays, 'b'], target);
    expect(await stale.remove(gone)).toBe(false);
    expect(await filter.check([stays, 'b'])).toEqual(['maybe', 'maybe']);
  });

  it('when the network holds it until the new generation is older than drainMs', async () => {
    const proxy = await TcpProxy.open(redis.server);
    try {
      const { name, filter } = await open();
      await build(filter, ['a'], target);
      const far = await open(name, { redis: proxy.url, drainMs: 200, writeTimeoutMs: 60_000 });
      await far.filter.check(['a']);
      const [gone, stays] = (await alike(name, 2)) as [string, string];
      proxy.hold();
      const removal = far.remove(gone);
      await build(filter, [stays], target);
      await delay(300);
      proxy.release();
      expect(await removal).toBe(false);
      expect(await filter.check([stays])).toEqual(['maybe']);
    } finally {
      await proxy.close();
    }
  });

  it('when the client sends it again after a broken connection', async () => {
    const proxy = await TcpProxy.open(redis.server);
    const client = new Redis(proxy.url);
    try {
      const { name, filter, remove, add } = await open(undefined, { redis: client });
      await build(filter, [], target);
      const [gone, stays] = (await alike(name, 2)) as [string, string];
      await add(gone);
      await add(stays);
      // The scripts are known to the server, and the client to the test.
      expect(await remove('z')).toBe(false);
      const sender = client as unknown as { evalshaBuffer: (...args: unknown[]) => Promise<unknown> };
      const send = sender.evalshaBuffer.bind(client);
      let calls = 0;
      sender.evalshaBuffer = (...args) => {
        // The first one asks for the time.
        if (++calls === 2) proxy.holdReplies();
        return send(...args);
      };
      const removals = async () => (await admin.keys(`bloom:{${name}}:cf:removal:*`)).length;
      const before = await removals();
      const removal = remove(gone);
      await eventually('it was carried out', async () => (await removals()) > before);
      proxy.disconnect();
      proxy.release();
      expect(await removal).toBe(true);
      expect(await filter.check([stays])).toEqual(['maybe']);
      expect((await filter.describe()).count).toBe(1);
    } finally {
      client.disconnect();
      await proxy.close();
    }
  });

  it('when it arrives so late that what came of it may be forgotten: nobody knows', async () => {
    const lua = luaReplacing('cfClock', 'time[1] * 1000', '(time[1] - 61) * 1000');
    const { filter, remove, add } = await open(undefined, { lua });
    await build(filter, [], target);
    await add('a');
    await expect(remove('a')).rejects.toThrow(BloomUnavailableError);
    await expect(remove('a')).rejects.toThrow(/Do not repeat it/);
    expect(await filter.check(['a'])).toEqual(['maybe']);
  });

  it('when the filter has grown by further tables, and shrinks again', async () => {
    const { filter, remove } = await open();
    await build(filter, [], target);
    const ids = idsOf('id', 1500);
    for (let at = 0; at < ids.length; at += 100) await filter.add(ids.slice(at, at + 100));
    for (let i = 0; i < 1400; i++) {
      await remove(ids[i]!);
      if (i % 100 === 0) expect(await filter.check(ids.slice(i + 1))).not.toContain('absent');
    }
    expect(new Set(await filter.check(ids.slice(1400)))).toEqual(new Set(['maybe']));
  });

  it('when a source returns an id many times: it stays, and no memory is taken for it', async () => {
    const { name, filter, remove } = await open();
    await build(filter, ['x'], target);
    const bytes = (await filter.describe()).shape!.bytes;
    const lease = await leaseOf(filter);
    await commitIds(await lease.stage(testPlan(target)), [
      ...Array<string>(500).fill('again'),
      ...idsOf('id', 50),
    ]);
    await lease.release();
    expect((await filter.describe()).shape!.bytes).toBeLessThanOrEqual(2 * bytes);
    expect(await remove('again')).toBe(false);
    expect(await remove('id-7')).toBe(true);
    expect(await filter.check(['again', ...idsOf('id', 7)])).not.toContain('absent');
    expect(await admin.exists(`${metaOf(name)}`)).toBe(1);
  });

  it('when the server comes back from an older snapshot: nothing is denied, and nothing removed', async () => {
    const { filter, add, remove } = await open();
    await build(filter, ['a'], target);
    await admin.save();
    await add('late');
    await redis.server.kill();
    await redis.server.restart();
    await eventually('it answers', async () => (await admin.ping().catch(() => '')) === 'PONG');
    await eventually(
      'it was noticed',
      async () => (await filter.describe().catch(() => undefined))?.state === 'suspect',
    );
    expect(await filter.check(['a', 'late'])).toEqual(['unknown', 'unknown']);
    await expect(remove('a')).rejects.toThrow(/is suspect: the id was not removed/);
    await build(filter, ['a', 'late'], target);
    expect(await filter.check(['a', 'late'])).toEqual(['maybe', 'maybe']);
  });
});
