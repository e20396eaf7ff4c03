import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { BloomEvent } from '../../../../../src/common/index.js';
import { AcknowledgementChannel } from '../../../../../src/store/redis/blocked/copies/acknowledgement-channel.js';
import type { ChannelReader } from '../../../../../src/store/redis/client/channel-reader.js';
import { build } from '../../../../support/built-filter.js';
import { eventually } from '../../../../support/eventually.js';
import { isPending, openLeased } from '../../../../support/leased-reader.js';
import { commandCounts, commandsFrom, RedisFixture } from '../../../../support/redis-fixture.js';
import { asUser } from '../../../../support/restricted-user.js';

/** A replica gets what there is without a pause. */
const AT_ONCE = ['--repl-diskless-sync-delay', '0'];
/** So often at most an add asks that hears what is acknowledged. */
const ASK_EVERY_MS = 100;

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start(AT_ONCE);
  admin = redis.client();
});
afterAll(() => redis.close());

async function system(adderOptions: object = {}, readerOptions: object = {}) {
  const name = redis.name();
  const adder = await redis.open(name, adderOptions);
  await build(adder.filter, ['built']);
  const reader = await openLeased(redis, name, readerOptions);
  const { list } = await reader.join();
  const key = (part: string) => `bloom:{${name}}:${part}`;
  let adds = 0;
  const add = async () => {
    const number = ++adds;
    const added = adder.filter.add([`id ${number}`]);
    await eventually('the entry came', () => reader.entries.at(-1)?.number === number);
    return { added, number };
  };
  const listeners = async () => Number(((await admin.pubsub('NUMSUB', key('acks'))) as [string, number])[1]);
  return { adder, reader, list, key, add, listeners };
}

/** Another server, which follows that one. */
function replicaOf({ server }: RedisFixture): Promise<RedisFixture> {
  return RedisFixture.start([...AT_ONCE, '--replicaof', server.host, String(server.port)]);
}

const advice = (events: readonly BloomEvent[]) =>
  events.flatMap((event) => (event.type === 'advice' ? [event.text] : []));

describe('The channel of acknowledgements', () => {
  it('ends the wait of an add that asks nothing', async () => {
    const { adder, reader, add, listeners } = await system();
    const first = await add();
    await eventually('the adder listens', async () => (await listeners()) === 1);
    await reader.acknowledge();
    await first.added;
    const commands = await commandsFrom(admin, adder.filter);
    const since = performance.now();
    const { added } = await add();
    await reader.acknowledge();
    expect(await added).toEqual([true]);
    const due = Math.floor((performance.now() - since) / ASK_EVERY_MS);
    // Each question is a script with this command.
    const { evalsha, zrem: questions = 0 } = await commands();
    expect(questions).toBeLessThanOrEqual(due);
    // That of the add, and that of the acknowledgement.
    expect(evalsha! - questions).toBe(2);
  });

  it('counts for nothing when the message is of another list, or none at all', async () => {
    const { reader, list, key, add, listeners } = await system();
    const { added, number } = await add();
    await eventually('the adder listens', async () => (await listeners()) === 1);
    for (const message of ['', 'nonsense', `${list} `, `${list} x`, `${'0'.repeat(16)} ${number}`, 'LIST'])
      await admin.publish(key('acks'), message);
    expect(await isPending(added, admin)).toBe(true);
    await reader.acknowledge();
    expect(await added).toEqual([true]);
  });

  it.each([
    { may: 'publish', who: 'an adder', rules: ['-subscribe'] },
    { may: 'subscribe', who: 'readers', rules: ['-publish'] },
  ] as const)('is done without where $who may only $may, with one advice', async ({ who, rules }) => {
    const options = { redis: await asUser(redis, admin, ['~*', '&*', '+@all', ...rules]) };
    const { adder, reader, key, add } = await system(...(who === 'an adder' ? [options] : [{}, options]));
    for (let i = 0; i < 40; i++) {
      const { added } = await add();
      await reader.acknowledge();
      expect(await added).toEqual([true]);
    }
    const texts = advice(adder.events);
    expect(texts).toHaveLength(1);
    expect(texts[0]).toContain(key('acks'));
    expect(texts[0]).toContain('ACL SETUSER');
  });

  it('tells only of the run of the server whose messages come', () => {
    const told: [string, unknown, string][] = [];
    let isListening = false;
    const channels = { listen: () => (isListening = true), stop: () => (isListening = false), keep() {} };
    const channel = new AcknowledgementChannel({
      key: 'acks',
      channels: channels as unknown as ChannelReader,
      onAnnounced: (...what) => void told.push(what),
      onUnannounced() {},
    });
    channel.listen();
    expect([isListening, channel.tells('one'), channel.tells('')]).toEqual([true, false, false]);
    channel.onHeard('one');
    channel.onMessage(Buffer.from('list 7'));
    expect([channel.tells('one'), channel.tells('other')]).toEqual([true, false]);
    channel.onLost();
    expect(channel.tells('one')).toBe(false);
    channel.onHeard('other');
    channel.onMessage(Buffer.from('list 8'));
    expect(told).toEqual([
      ['list', 7, 'one'],
      ['list', 8, 'other'],
    ]);
    channel.onHeard('');
    expect(channel.tells('')).toBe(false);
    channel.close();
    expect(isListening).toBe(false);
  });

  it('is doubted from a wait that only a question has ended until the next message', () => {
    const channel = new AcknowledgementChannel({
      key: 'acks',
      channels: undefined,
      onAnnounced() {},
      onUnannounced() {},
    });
    channel.onHeard('run');
    channel.missed();
    expect(channel.tells('run')).toBe(false);
    channel.onMessage(Buffer.from('list 1'));
    expect(channel.tells('run')).toBe(true);
  });

  it('has its connection opened again when questions have ended 32 waits in a row', () => {
    let distrusted = 0;
    const reported: (string | undefined)[] = [];
    const channels = { distrust: () => distrusted++ } as unknown as ChannelReader;
    const onUnannounced = (error?: string) => void reported.push(error);
    const channel = new AcknowledgementChannel({ key: 'acks', channels, onAnnounced() {}, onUnannounced });
    const miss = (times: number) => Array.from({ length: times }, () => channel.missed());
    miss(40);
    channel.onHeard('run');
    miss(31);
    expect(distrusted).toBe(0);
    miss(1);
    expect([distrusted, reported]).toEqual([1, [undefined]]);
    channel.onHeard('run');
    miss(31);
    expect(distrusted).toBe(1);
  });
});

describe('A replica', () => {
  it('passes no acknowledgement on to those who listen to it', async () => {
    const replica = await replicaOf(redis);
    try {
      const listening = replica.client();
      await eventually('it follows', async () =>
        /master_link_status:up/.test(await listening.info('replication')),
      );
      const { reader, key, add } = await system();
      const heard: string[] = [];
      listening.on('message', (channel) => heard.push(channel));
      await listening.subscribe(key('feed'), key('acks'), 'end');
      const ofMaster = redis.client();
      const told: string[] = [];
      ofMaster.on('message', (channel) => told.push(channel));
      await ofMaster.subscribe(key('acks'));
      const { added } = await add();
      await reader.acknowledge();
      await added;
      await admin.publish('end', '');
      await eventually('all messages came', () => heard.includes('end') && told.length > 0);
      expect(heard).toEqual([key('feed'), 'end']);
    } finally {
      await replica.close();
    }
  });

  it('which the server of an add has become answers no question by what another one writes', async () => {
    const other = await replicaOf(redis);
    const there = other.client();
    const isFollowing = (client: Redis) => async () =>
      /master_link_status:up/.test(await client.info('replication'));
    try {
      await eventually('it follows', isFollowing(there));
      const { reader, key, add } = await system();
      const { added, number } = await add();
      added.catch(() => {});
      await eventually(
        'it has the entry',
        async () => (await there.hget(key('meta'), 'leases.last')) === `${number}`,
      );
      await there.call('REPLICAOF', 'NO', 'ONE');
      await admin.call('REPLICAOF', other.server.host, String(other.server.port));
      await eventually('the roles are exchanged', isFollowing(admin));
      const [name] = (await there.zrange(key('readers'), '0', '0')) as [string];
      await there.zadd(key('readers'), 'XX', number, name);
      await eventually('it came', async () => Number(await admin.zscore(key('readers'), name)) === number);
      await admin.config('RESETSTAT');
      await eventually('the add asked', async () => ((await commandCounts(admin))['evalsha'] ?? 0) >= 2);
      expect(await isPending(added, admin)).toBe(true);
      expect(reader.entries).toHaveLength(1);
    } finally {
      await admin.call('REPLICAOF', 'NO', 'ONE');
      await other.close();
    }
  });
});
