import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { signsOfProxy } from '../../../../src/store/redis/client/server-path.js';
import { build, idsOf } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { openOptions } from '../../../support/open-options.js';
import { type Instance, RedisFixture } from '../../../support/redis-fixture.js';
import { SwappingProxy } from '../../../support/swapping-proxy.js';

const BUILT = idsOf('built', 100);
const ADVISED = { bytes: 1, hasSource: true, drainMs: 60_000 };

let first: RedisFixture;
let second: RedisFixture;
let proxy: SwappingProxy;
beforeEach(async () => {
  [first, second] = await Promise.all([
    RedisFixture.start(['--repl-diskless-sync-delay', '0']),
    RedisFixture.start(),
  ]);
  proxy = await SwappingProxy.open(first.server);
});
afterEach(async () => {
  await proxy.close();
  await Promise.all([first.close(), second.close()]);
});

function adviceOf({ events }: Instance): string[] {
  return events.flatMap((event) => (event.type === 'advice' ? [event.text] : []));
}

/** Waits until the process has looked who answers it now. */
async function untilUnknown({ filter }: Instance): Promise<void> {
  await eventually(
    'the other server is noticed',
    async () => (await filter.check(['nobody']))[0] === 'unknown',
  );
}

describe('A proxy that puts another server behind an open connection', () => {
  it('a server with the same filter is not believed, and the cause is told', async () => {
    const one = await first.open('products', { redis: proxy.url });
    await build(one.filter, BUILT);
    const replica = second.client();
    await replica.replicaof(first.server.host, first.server.port);
    await eventually('the replica follows', async () =>
      (await replica.info('replication')).includes('master_link_status:up'),
    );
    await replica.replicaof('NO', 'ONE');
    await one.filter.add(['lost']);
    proxy.swap(second.server);
    await untilUnknown(one);
    expect(await one.filter.describe()).toMatchObject({ state: 'suspect' });
    expect(adviceOf(one)).toEqual([
      expect.stringMatching(/Another Redis server answers on a connection that stayed open/),
    ]);
  });

  it('nor one with a filter of its own, which was built there', async () => {
    const [one, other] = [await first.open('products', { redis: proxy.url }), await second.open('products')];
    await build(one.filter, BUILT);
    await build(other.filter, ['else']);
    expect(await one.filter.check(['built-1', 'nobody'])).toEqual(['maybe', 'absent']);
    proxy.swap(second.server);
    await untilUnknown(one);
    expect(await other.filter.describe()).toMatchObject({ state: 'suspect' });
    expect(adviceOf(one)).toHaveLength(1);
    await build(one.filter, BUILT);
    expect(await one.filter.check(['built-1', 'nobody'])).toEqual(['maybe', 'absent']);
  });

  it('with trustAfterFailover it is believed, and told all the same', async () => {
    const options = { trustAfterFailover: true };
    const one = await first.open('products', { ...options, redis: proxy.url });
    const other = await second.open('products', options);
    await build(one.filter, BUILT);
    await build(other.filter, ['else']);
    await one.filter.check(['else']);
    proxy.swap(second.server);
    await eventually('the other one answers', async () => (await one.filter.check(['else']))[0] === 'maybe');
    expect(adviceOf(one)).toHaveLength(1);
  });

  it('a server that is reached on a new connection is no such case', async () => {
    const one = await first.open('products', { redis: proxy.url, trustAfterFailover: true });
    await build(one.filter, BUILT);
    await one.filter.check(['nobody']);
    const port = first.server.port;
    await first.server.restart();
    expect(first.server.port).toBe(port);
    await eventually('it answers again', async () =>
      one.filter.describe().then(
        () => true,
        () => false,
      ),
    );
    expect(adviceOf(one)).toEqual([]);
  });
});

describe('At start', () => {
  it('a proxy is reported once, from the addresses of both ends', async () => {
    const one = await first.open('products', { redis: proxy.url });
    const other = one.store.open(openOptions({ name: 'others' }));
    await one.filter.describe();
    const [text, ...others] = await one.filter.advise(ADVISED);
    expect(others).toEqual([]);
    expect(text).toContain(`to 127.0.0.1:${first.server.port}, while here it leads from`);
    expect(await other.advise(ADVISED)).toEqual([]);
  });

  it('reports nothing of a straight connection, or for a user who may not ask', async () => {
    const straight = await first.open('products');
    await straight.filter.describe();
    expect(await straight.filter.advise(ADVISED)).toEqual([]);
    await first.client().call('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '+@all', '-client');
    const redis = proxy.url.replace('//', '//app:secret@');
    const other = await first.open('products', { redis });
    expect(await other.filter.advise(ADVISED)).toEqual([]);
    expect(other.events).toEqual([]);
  });
});

describe('Signs of a proxy', () => {
  const ends = { local: '10.0.0.1:5000', remote: '10.0.0.9:6379', openMs: 1000 };
  const info = (text: string) => signsOfProxy(ends, [text, text]);

  it.each([
    ['a translated address of the server', 'id=7 addr=10.0.0.1:5000 laddr=172.17.0.2:6379 age=1'],
    ['a translated address of the client', 'id=7 addr=192.168.0.1:9999 laddr=10.0.0.9:6379 age=1'],
    ['a server that names no addresses', 'id=7 age=1'],
    ['another reply', 'OK'],
  ])('%s is none', (_, text) => expect(info(text)).toBeUndefined());

  it('an IPv4 address may be written as one of IPv6', () => {
    const mapped = { ...ends, local: '::ffff:10.0.0.1:5000', remote: '::ffff:10.0.0.9:6379' };
    expect(signsOfProxy(mapped, ['id=7 addr=10.0.0.1:5000 laddr=10.0.0.9:6379 age=1'])).toBeUndefined();
  });

  it('a connection that is older at the server, or two of them, are', () => {
    expect(info('id=7 addr=10.0.0.1:5000 laddr=10.0.0.9:6379 age=60')).toMatch(/older at the server/);
    expect(signsOfProxy(ends, ['id=7 age=1', 'id=8 age=1'])).toMatch(/reached Redis on two/);
  });
});
