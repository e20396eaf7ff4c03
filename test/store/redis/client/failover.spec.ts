import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Cluster, type Redis } from 'ioredis';
import { build, idsOf } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { expectFound, expectNeverAbsent } from '../../../support/never-absent.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

const BUILT = idsOf('built', 100);

async function follows(replica: Redis, master: RedisFixture): Promise<void> {
  await replica.replicaof(master.server.host, master.server.port);
  await eventually('the replica follows', async () =>
    (await replica.info('replication')).includes('master_link_status:up'),
  );
}

describe('Two servers of which one replicates the other', () => {
  let first: RedisFixture;
  let second: RedisFixture;
  let firstAdmin: Redis;
  let secondAdmin: Redis;
  beforeEach(async () => {
    [first, second] = await Promise.all([
      RedisFixture.start(['--repl-diskless-sync-delay', '0']),
      RedisFixture.start(['--repl-diskless-sync-delay', '0']),
    ]);
    firstAdmin = first.client();
    secondAdmin = second.client();
  });
  afterEach(async () => {
    await Promise.all([first.close(), second.close()]);
  });

  it('a process whose add finds its master a replica now no longer answers from it', async () => {
    const one = await first.open('products');
    await build(one.filter, BUILT);
    await follows(secondAdmin, first);
    await secondAdmin.replicaof('NO', 'ONE');
    await one.filter.add(['lost']);
    await expectFound([one.filter], [...BUILT, 'lost']);
    await follows(firstAdmin, second);
    await expect(one.filter.add(['late'])).rejects.toThrow(/READONLY/);
    for (const id of ['lost', 'late', 'built-1']) expect(await one.filter.check([id])).toEqual(['unknown']);
  });

  it('a process that only looks up notices it too, before long', async () => {
    const [one, reader] = [await first.open('products'), await first.open('products')];
    await build(one.filter, BUILT);
    await expectFound([reader.filter], BUILT);
    await firstAdmin.replicaof('127.0.0.1', 1);
    await eventually(
      'the replica is not believed',
      async () => (await reader.filter.check(['x']))[0] === 'unknown',
    );
    for (const id of ['x', 'built-1']) expect(await reader.filter.check([id])).toEqual(['unknown']);
  });

  it('a promoted replica is suspect', async () => {
    const one = await first.open('products');
    await build(one.filter, BUILT);
    await follows(secondAdmin, first);
    await secondAdmin.replicaof('NO', 'ONE');
    await one.filter.add(['lost']);
    const other = await second.open('products');
    await expectNeverAbsent([other.filter], ['lost']);
    expect(await other.filter.describe()).toMatchObject({ state: 'suspect' });
  });

  it.each([false, true])('a replica is not believed (trustAfterFailover: %s)', async (trustAfterFailover) => {
    const one = await first.open('products', { trustAfterFailover });
    await build(one.filter, BUILT);
    await follows(secondAdmin, first);
    const reader = await second.open('products', { trustAfterFailover });
    expect(await reader.filter.check(['built-1'])).toEqual(['unknown']);
    await expect(reader.filter.add(['x'])).rejects.toThrow();
    expect(await one.filter.check(['built-1', 'x'])).toEqual(['maybe', 'absent']);
  });
});

describe('A cluster whose replica takes over', () => {
  let master: RedisFixture;
  let replica: RedisFixture;
  let cluster: Cluster;
  beforeEach(async () => {
    const args = [
      '--cluster-enabled',
      'yes',
      '--cluster-node-timeout',
      '3000',
      '--repl-ping-replica-period',
      '1',
    ];
    const start = () => RedisFixture.start([...args, '--repl-diskless-sync-delay', '0']);
    [master, replica] = await Promise.all([start(), start()]);
    cluster = new Cluster([{ host: master.server.host, port: master.server.port }], {
      slotsRefreshInterval: 100,
    });
  });
  afterEach(async () => {
    cluster.disconnect();
    await Promise.all([master.close(), replica.close()]);
  });

  it('is not believed, though no connection was closed', async () => {
    const [masterAdmin, replicaAdmin] = [master.client(), replica.client()];
    await masterAdmin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await masterAdmin.call('CLUSTER', 'MEET', replica.server.host, String(replica.server.port));
    const id = String(await masterAdmin.cluster('MYID'));
    await eventually('the two know each other', () =>
      replicaAdmin.call('CLUSTER', 'REPLICATE', id).then(
        () => true,
        () => false,
      ),
    );
    await eventually('the replica follows', async () =>
      (await replicaAdmin.info('replication')).includes('master_link_status:up'),
    );
    await eventually('the client knows both', () => cluster.nodes('slave').length === 1);
    const { filter } = await master.open('products', { redis: cluster });
    await build(filter, BUILT);
    await expectFound([filter], BUILT);
    await masterAdmin.wait(1, 5000);

    // Cut off: the replica cannot come back without the password.
    await masterAdmin.config('SET', 'requirepass', 'secret');
    await masterAdmin.call('AUTH', 'secret');
    await masterAdmin.call('CLIENT', 'KILL', 'TYPE', 'REPLICA');
    await filter.add(['lost']);
    await expectFound([filter], ['lost']);
    await replicaAdmin.call('CLUSTER', 'FAILOVER', 'TAKEOVER');
    await eventually('the filter is not believed', async () => {
      await expectNeverAbsent([filter], ['lost']);
      return (await filter.check(['lost']))[0] === 'unknown';
    });
    expect(await filter.describe()).toMatchObject({ state: 'suspect' });
    await expectNeverAbsent([filter], ['lost', ...BUILT]);
  });
});
