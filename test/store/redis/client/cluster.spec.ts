import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import type { InstanceBoard, StoredFilter } from '../../../../src/store/index.js';
import { build, commitIds, idsOf, leaseOf, mergeIds, testPlan } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { expectFound, expectNeverAbsent } from '../../../support/never-absent.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

const LARGE = { capacity: 700_000 };
const SLOTS = 16_384;

const nodes: RedisFixture[] = [];
const clients: Redis[] = [];
const clusters: Cluster[] = [];

beforeAll(async () => {
  for (let i = 0; i < 3; i++) {
    const node = await RedisFixture.start(['--cluster-enabled', 'yes', '--cluster-node-timeout', '60000']);
    nodes.push(node);
    clients.push(node.client());
  }
  for (const [i, client] of clients.entries()) {
    const range = [Math.ceil((SLOTS / 3) * i), Math.ceil((SLOTS / 3) * (i + 1)) - 1];
    await client.call('CLUSTER', 'ADDSLOTSRANGE', ...range.map(String));
    for (const other of nodes)
      await client.call('CLUSTER', 'MEET', other.server.host, String(other.server.port));
  }
  for (const client of clients) {
    await eventually('the cluster is whole', async () => {
      const info = await client.cluster('INFO');
      return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3');
    });
  }
});
afterAll(async () => {
  for (const cluster of clusters) cluster.disconnect();
  await Promise.all(nodes.map((node) => node.close()));
});

async function open(name: string): Promise<StoredFilter> {
  const cluster = new Cluster([{ host: nodes[0]!.server.host, port: nodes[0]!.server.port }]);
  cluster.on('error', () => {});
  clusters.push(cluster);
  return (await nodes[0]!.open(name, { redis: cluster })).filter;
}

function boardOf(filter: StoredFilter): InstanceBoard {
  if (!filter.board) throw new Error('Expected a filter in Redis to have a board.');
  return filter.board;
}

describe('A cluster of three nodes', () => {
  it('keeps all keys of a filter on one node, and filters on all', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const filter = await open(name);
      await build(filter, ['x'], LARGE);
      const holders = await Promise.all(clients.map((client) => client.keys(`bloom:{${name}}:*`)));
      expect(holders.map(({ length }) => length).sort()).toEqual([0, 0, 4]);
    }
    for (const client of clients) expect(await client.dbsize()).toBeGreaterThan(0);
  });

  it('runs every command of a filter, on whichever node it is', async () => {
    for (const name of ['one', 'two', 'three']) {
      const [writer, reader] = [await open(name), await open(name)];
      await build(writer, idsOf('built', 200), LARGE);
      await expectFound([reader, writer], idsOf('built', 200));
      expect(await reader.check(['built-1'])).toEqual(['maybe']);
      expect(await reader.add([...idsOf('added', 300), 'built-1'])).toContain(false);
      const lease = await leaseOf(writer);
      const staging = await lease.stage(testPlan());
      await reader.add(['late']);
      await mergeIds(staging, ['a']);
      await commitIds(staging, ['b']);
      await lease.release();
      await expectFound([reader, writer], ['late', 'a', 'b']);
      const [aborted] = [await leaseOf(writer)];
      await (await aborted.stage(testPlan(LARGE))).abort();
      await aborted.release();
    }
  });

  it('keeps what processes report of a filter in its slot', async () => {
    for (const name of ['one', 'two', 'three', 'four']) {
      const [writer, reader] = [boardOf(await open(name)), boardOf(await open(name))];
      const run = { id: 'run', text: 'running', lifeMs: 60_000 };
      const beat = { instance: 'one', text: name, lifeMs: 60_000, run };
      expect(await writer.beat(beat)).toMatchObject({ mode: undefined, stopBy: undefined });
      expect(await reader.askToStop('Ana')).toBe(true);
      const mode = await reader.setMode({ mode: 'off', by: 'Ana' }, 0);
      expect(await writer.beat(beat)).toEqual({ mode, stopBy: 'Ana', failure: undefined });
      await writer.recordRun({ id: 'earlier', text: 'done' });
      expect(await reader.read()).toMatchObject({
        instances: [{ id: 'one', text: name }],
        runs: ['done'],
        running: 'running',
        mode,
      });
      await writer.leave('one');
      expect((await reader.read()).instances).toEqual([]);
    }
  });

  it('tells a lost segment there too', async () => {
    const [one, two] = [await open('lost'), await open('lost')];
    await build(one, idsOf('built', 200), LARGE);
    await expectFound([two], idsOf('built', 200));
    for (const client of clients) await client.del('bloom:{lost}:1').catch(() => {});
    await expectNeverAbsent([two, one], idsOf('built', 200));
    await one.add(['late']);
    expect(await one.describe()).toMatchObject({ state: 'lost' });
    await build(one, [...idsOf('built', 200), 'late']);
    await expectFound([two], [...idsOf('built', 200), 'late']);
  });
});
