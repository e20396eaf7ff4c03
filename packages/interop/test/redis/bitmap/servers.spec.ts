import { afterEach, describe, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';
import { BloomConfigError } from 'nestjs-bloom/filter';
import { BloomUnavailableError } from 'nestjs-bloom/store';
import { runRebuild } from '../../../../../src/rebuild/index.js';
import { idsOf } from '../../../../../test/support/built-filter.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { expectFound } from '../../../../../test/support/never-absent.js';
import { fillByPeer } from '../../support/peers/peer.js';
import { goZeroPeer } from '../../support/peers/go-zero-peer.js';
import { rebuildJob, sourceOf } from '../../../../../test/support/rebuild-job.js';
import { commandsFrom, RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { connected } from '../../../../../test/support/restarts.js';
import { adoptable } from '../../../../../test/support/abilities.js';

const BUILT = idsOf('built', 100);
const peer = goZeroPeer(20_000);

let redis: RedisFixture;
afterEach(() => redis.close());

describe('When the server restarts, a filter on the key of a peer', () => {
  const PERSISTENT = ['--appendonly', 'yes', '--appendfsync', 'always'];

  it('is unknown until somebody says that the key is whole', async () => {
    redis = await RedisFixture.start(PERSISTENT);
    await fillByPeer(peer, redis.client(), 'products', BUILT);
    const options = { layout: peer.layout('products'), hasSource: false };
    const { filter, events } = await redis.open('products', {}, options);
    const trusting = await redis.open('products', { trustAfterFailover: true }, options);
    await expectFound([filter, trusting.filter], BUILT);
    expect(await filter.check(['absent'])).toEqual(['absent']);
    await redis.server.restart();
    await connected([filter]);
    expect(await filter.check(['absent', 'built-1'])).toEqual(['unknown', 'unknown']);
    expect(events.at(-1)).toMatchObject({ type: 'state-changed', state: 'suspect' });
    await adoptable(filter).adopt();
    expect(await filter.check(['absent', 'built-1'])).toEqual(['absent', 'maybe']);
  });

  it('goes on answering where failovers are trusted', async () => {
    redis = await RedisFixture.start(PERSISTENT);
    await fillByPeer(peer, redis.client(), 'products', BUILT);
    const options = { layout: peer.layout('products'), hasSource: false };
    const { filter } = await redis.open('products', { trustAfterFailover: true }, options);
    await expectFound([filter], BUILT);
    await redis.server.restart();
    await eventually('it answers', async () => (await filter.check(['absent']))[0] === 'absent');
    await expectFound([filter], BUILT);
  });

  it('refuses a swap that was staged before', async () => {
    redis = await RedisFixture.start(PERSISTENT);
    const { filter } = await redis.open('products', {}, { layout: peer.layout('products') });
    const lease = await filter.lease({ leaseMs: 60_000 });
    const staging = await lease!.stage({ capacity: 1000, errorRate: 0.01, maxIdBytes: 64 });
    staging.local.addKey('a');
    await redis.server.restart();
    await connected([filter]);
    await staging.merge(new AbortController().signal);
    await expect(staging.commit(1)).rejects.toThrow(/restarted or failed over/);
    expect(await filter.check(['a', 'b'])).toEqual(['unknown', 'unknown']);
  });
});

describe('While the server does not answer, a filter on the key of a peer', () => {
  it('is unknown after its deadline, then at once, and is back with the server', async () => {
    redis = await RedisFixture.start();
    await fillByPeer(peer, redis.client(), 'products', BUILT);
    const options = { layout: peer.layout('products'), hasSource: false };
    const { filter, events } = await redis.open('products', { timeoutMs: 50, writeTimeoutMs: 200 }, options);
    await eventually('it answers', async () => (await filter.check(['absent']))[0] === 'absent');
    await redis.server.kill('SIGSTOP');
    for (let i = 0; i < 8; i++)
      expect(await filter.check(['absent', 'built-1'])).toEqual(['unknown', 'unknown']);
    await expect(filter.add(['late'])).rejects.toThrow(BloomUnavailableError);
    expect(events.map(({ type }) => type)).toContain('circuit-opened');
    await redis.server.kill('SIGCONT');
    await eventually('it answers again', async () => (await filter.check(['absent']))[0] === 'absent');
    await expectFound([filter], BUILT);
  });

  it('asks for the ids of one tick in one call', async () => {
    redis = await RedisFixture.start();
    const admin = redis.client();
    await fillByPeer(peer, admin, 'products', BUILT);
    const options = { layout: peer.layout('products'), hasSource: false };
    const { filter } = await redis.open('products', {}, options);
    await expectFound([filter], BUILT);
    const commands = await commandsFrom(admin, filter);
    await Promise.all(['absent', ...BUILT.slice(0, 50)].map((id) => filter.checkOne(id)));
    expect((await commands()).evalsha).toBe(1);
    await Promise.all(['a', 'b', 'c'].map((id) => filter.add([id])));
    expect((await commands()).evalsha).toBe(2);
  });
});

describe('On a cluster, a filter on the key of a peer', () => {
  it.each(['products', '{shop}:products', 'shop:{products}', 'a{b'])(
    'keeps every key in the slot of %s',
    async (key) => {
      redis = await RedisFixture.start(['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1']);
      const admin = redis.client();
      await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
      await eventually('the cluster is whole', async () =>
        (await admin.cluster('INFO')).includes('cluster_state:ok'),
      );
      const { host, port } = redis.server;
      const cluster = new Cluster([{ host, port }]);
      cluster.on('error', () => {});
      const layout = peer.layout(key);
      const { filter } = await redis.open('products', { redis: cluster }, { layout });
      await runRebuild(rebuildJob(filter, sourceOf(BUILT)));
      await filter.add(['added']);
      await expectFound([filter], [...BUILT, 'added']);
      const lease = await filter.lease({ leaseMs: 60_000 });
      const staging = await lease!.stage({ capacity: 1000, errorRate: 0.01, maxIdBytes: 64 });
      await filter.add(['staged too']);
      const slot = (name: string) => admin.call('CLUSTER', 'KEYSLOT', name);
      const names = await admin.keys('*');
      expect(names.length).toBe(4);
      for (const name of names) expect(await slot(name)).toBe(await slot(key));
      await staging.commit(0);
      await lease!.release();
      await expectFound([filter], ['staged too']);
      cluster.disconnect();
    },
  );

  it.each(['a}b', 'a{}b'])('is refused with a key whose slot nothing can share: %p', async (key) => {
    redis = await RedisFixture.start();
    const opened = async () => redis.open('products', {}, { layout: peer.layout(key) });
    await expect(opened()).rejects.toThrow(BloomConfigError);
  });
});
