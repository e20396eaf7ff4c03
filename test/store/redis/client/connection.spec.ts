import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { BloomEvent } from '../../../../src/common/index.js';
import { IoredisClient } from '../../../../src/store/redis/client/ioredis-client.js';
import { RedisConnection } from '../../../../src/store/redis/client/redis-connection.js';
import { eventually } from '../../../support/eventually.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import type { TcpProxy } from '../../../support/tcp-proxy.js';

const MOST_WAITING = 1000;

let redis: RedisFixture;
let proxy: TcpProxy;
beforeAll(async () => {
  redis = await RedisFixture.start();
  proxy = await redis.openProxy();
});
afterAll(() => redis.close());

it('Lookups that a client never settles, since it sends nothing again, do not count as waiting for ever', async () => {
  const client = new Redis(proxy.url, { autoResendUnfulfilledCommands: false, retryStrategy: () => 50 });
  client.on('error', () => {});
  const timeouts = { timeoutMs: 100, writeTimeoutMs: 300 };
  const connection = new RedisConnection(new IoredisClient(client, true), timeouts, () => {});
  await client.ping();
  proxy.hold();
  for (let i = 0; i < MOST_WAITING; i++) void connection.commandRead('get', 'key', []).catch(() => {});
  await expect(connection.commandRead('get', 'key', [])).rejects.toThrow(`the last ${MOST_WAITING} lookups`);
  proxy.disconnect();
  proxy.release();
  await eventually('lookups are answered', () =>
    connection.commandRead('get', 'key', []).then(
      (reply) => reply === null,
      () => false,
    ),
  );
  await connection.close();
});

it('A reply that comes late lets the next lookup find out at once whether the server is fast again', async () => {
  const events: BloomEvent[] = [];
  const timeouts = { timeoutMs: 20, writeTimeoutMs: 300 };
  const client = new IoredisClient(redis.client(), false);
  const connection = new RedisConnection(client, timeouts, (event) => events.push(event));
  const lookUp = async (work: () => Promise<string>) => {
    const lookups = connection.nodes.of('key');
    if (lookups.isCircuitOpen) lookups.admit();
    return lookups.settle(work());
  };
  const answers: ((reply: string) => void)[] = [];
  const late = () => new Promise<string>((resolve) => answers.push(resolve));
  while (events.length === 0) await lookUp(late).catch(() => {});
  expect(events).toMatchObject([{ type: 'circuit-opened' }]);
  answers.at(-1)!('late');
  await new Promise(setImmediate);
  expect(await lookUp(async () => 'in time')).toBe('in time');
  expect(events.map(({ type }) => type)).toEqual(['circuit-opened', 'circuit-closed']);
  await connection.close();
});
