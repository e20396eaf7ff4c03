import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { bfFixture, describeBf, describeOwnBf, ownBfFixture } from '../../../../../test/support/bf-server.js';
import {
  build,
  commitIds,
  idsOf,
  leaseOf,
  mergeIds,
  testPlan,
} from '../../../../../test/support/built-filter.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { expectFound } from '../../../../../test/support/never-absent.js';
import type { RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { redisBloom } from '../../../src/index.js';

const layout = redisBloom();
const BUILT = idsOf('built', 200);

describeBf('A filter of BF.* commands, whatever the client is set to', () => {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await bfFixture();
  });
  afterAll(() => redis.close());

  const settings: Record<string, RedisOptions> = {
    RESP2: { protocol: 2 },
    RESP3: { protocol: 3 },
    'RESP3 with its own shapes': { protocol: 3, replyMapping: 'resp3' },
    'numbers as text': { stringNumbers: true },
    'numbers as text in RESP2': { protocol: 2, stringNumbers: true },
    'automatic pipelines': { enableAutoPipelining: true },
    'a prefix of all keys': { keyPrefix: `prefix-${process.pid}:` },
  };

  it.each(Object.keys(settings))('%s', async (name) => {
    const client = new Redis(redis.server.url, settings[name]!);
    const { filter } = await redis.open(redis.name(), { redis: client }, { layout });
    try {
      await build(filter, BUILT);
      expect(await filter.check(['built-1', 'x'])).toEqual(['maybe', 'absent']);
      expect(await filter.add(['added', 'built-1', 'added'])).toEqual([true, false, false]);
      const bytes = new Uint8Array([0, 255, 128]).subarray(1);
      expect(await filter.add([bytes])).toEqual([true]);
      expect(await filter.check([bytes, new Uint8Array([0, 255, 128])])).toEqual(['maybe', 'absent']);
      expect(await filter.describe()).toMatchObject({ state: 'ready', count: 202 });
      const lease = await leaseOf(filter);
      const staging = await lease.stage(testPlan());
      await filter.add(['during']);
      await commitIds(staging, BUILT);
      await lease.release();
      await expectFound([filter], [...BUILT, 'during']);
    } finally {
      client.disconnect();
    }
  });

  it('lookups of one tick share one script with one BF.MEXISTS', async () => {
    const { filter } = await redis.open(redis.name(), {}, { layout });
    await build(filter, BUILT);
    await expectFound([filter], BUILT);
    const client = redis.client();
    const calls = async () => {
      const stats = await client.info('commandstats');
      const of = (name: string) =>
        Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`, 'i').exec(stats)?.[1] ?? 0);
      return { asked: of('bf\\.mexists'), scripts: of('evalsha') + of('eval') };
    };
    const before = await calls();
    const verdicts = await Promise.all([...BUILT.slice(0, 50), 'x', 'y'].map((id) => filter.check([id])));
    expect(verdicts.flat()).toEqual([...Array(50).fill('maybe'), 'absent', 'absent']);
    const after = await calls();
    expect(after).toEqual({ asked: before.asked + 1, scripts: before.scripts + 1 });
  });
});

describeOwnBf('A filter of BF.* commands on a cluster', () => {
  const SLOTS = 16_384;
  const nodes: RedisFixture[] = [];
  const clusters: Cluster[] = [];

  beforeAll(async () => {
    for (let i = 0; i < 2; i++) {
      nodes.push(await ownBfFixture(['--cluster-enabled', 'yes', '--cluster-node-timeout', '60000']));
    }
    const clients = nodes.map((node) => node.client());
    for (const [i, client] of clients.entries()) {
      const [from, to] = [(SLOTS / 2) * i, (SLOTS / 2) * (i + 1) - 1];
      await client.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
      for (const { server } of nodes) await client.call('CLUSTER', 'MEET', server.host, String(server.port));
    }
    for (const client of clients) {
      await eventually('the cluster is whole', async () => {
        const info = await client.cluster('INFO');
        return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:2');
      });
    }
  });
  afterAll(async () => {
    for (const cluster of clusters) cluster.disconnect();
    await Promise.all(nodes.map((node) => node.close()));
  });

  async function open(name: string) {
    const cluster = new Cluster([{ host: nodes[0]!.server.host, port: nodes[0]!.server.port }]);
    cluster.on('error', () => {});
    clusters.push(cluster);
    return (await nodes[0]!.open(name, { redis: cluster }, { layout })).filter;
  }

  it.each(['one', 'two', 'three', 'four'])(
    'runs every command of filter %s on the node that has it',
    async (name) => {
      const [writer, reader] = [await open(name), await open(name)];
      await writer.verify();
      await build(writer, BUILT);
      await expectFound([writer, reader], BUILT);
      expect(await reader.check(['x'])).toEqual(['absent']);
      expect(await writer.add(['added'])).toEqual([true]);
      const lease = await leaseOf(writer);
      const staging = await lease.stage(testPlan());
      await reader.add(['during']);
      await mergeIds(staging, BUILT);
      await reader.add(['later']);
      await staging.commit(200);
      await lease.release();
      await expectFound([writer, reader], [...BUILT, 'during', 'later']);
      expect(await reader.describe()).toMatchObject({ state: 'ready', count: 202 });
    },
  );
});
