import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { blocked, type BloomLayout } from '../../../../src/filter/index.js';
import { redisson, cuckoo, goZero, redisBloom } from '@nestjs-bloom/interop';
import { describeOwnBf, ownBfFixture } from '../../../support/bf-server.js';
import { build, idsOf, testPlan } from '../../../support/built-filter.js';
import { commandsOf } from '../../../support/lua-commands.js';
import { redissonPeer } from '../../../../packages/interop/test/support/peers/redisson-peer.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import { asUser } from '../../../support/restricted-user.js';
import { scaling } from '@nestjs-bloom/interop/scaling';

const plan = testPlan({ capacity: 1000, errorRate: 0.01 });

interface Case {
  readonly layout: (key: string) => BloomLayout;
  readonly hasSource?: boolean;
  /** Set where a process reads with leases. */
  readonly leaseMs?: number;
  /** How the names of its scripts begin. */
  readonly scripts: readonly string[];
  /** Commands that it sends without a script. */
  readonly alone?: readonly string[];
  /** A key beside those of this library, which the user needs too. */
  readonly keys: (key: string) => readonly string[];
  readonly start?: () => Promise<RedisFixture>;
}

/** Sent without a script by all. */
const LEASE = ['SET', 'UNLINK'];
/** Commands of sorted sets, streams and channels, which only a filter with leases has. */
const OF_COPIES = /^([ZX]|PUBLISH$)/;
/** Scripts that every such filter uses. */
const COMMON = [
  'describe',
  'generationOffline',
  'publish',
  'withdraw',
  'acquire',
  'renew',
  'release',
  'memory',
];

function describeAdvice(name: string, one: Case): void {
  const {
    layout,
    hasSource = true,
    leaseMs,
    scripts,
    alone = [],
    keys,
    start = () => RedisFixture.start(),
  } = one;
  const inScripts = commandsOf([...scripts, ...COMMON]).filter(
    (command) => leaseMs || !OF_COPIES.test(command),
  );
  const needed = [...inScripts, ...LEASE, ...alone];

  describe(`At start-up, of ${name},`, () => {
    let redis: RedisFixture;
    let admin: Redis;
    beforeAll(async () => {
      redis = await start();
      admin = redis.client();
    });
    afterAll(() => redis.close());

    async function advice(rules: readonly string[], key = redis.name()) {
      const user = await asUser(redis, admin, rules);
      const { filter, close } = await redis.open(
        key,
        { redis: user },
        { layout: layout(key), plan, hasSource, leaseMs },
      );
      const texts = await filter.advise({ bytes: 1000, hasSource: true, drainMs: 10_000 });
      await close();
      return texts.join('\n');
    }

    it.each(needed)('it is told that the user may not run %s', async (command) => {
      const text = await advice(['~*', '+@all', `-${command.toLowerCase()}`]);
      expect(text).toContain(command);
      expect(text).toContain('ACL SETUSER');
    });

    it('each key is named that the user may not use', async () => {
      const key = redis.name();
      const all = keys(key);
      for (const missing of all) {
        const others = all.filter((other) => other !== missing).map((other) => `~${other}`);
        const text = await advice(['+@all', ...others], key);
        expect(text).toContain(missing.replace('*', ''));
      }
      for (const missing of keys(key).filter((one) => !one.includes('*'))) {
        const others = all.filter((other) => other !== missing).map((other) => `~${other}`);
        expect(await advice(['+@all', ...others, `%R~${missing}`], key)).toContain(`'${missing}'`);
      }
    });

    it('nothing is told to a user who may do what is needed, and that is enough', async () => {
      const key = redis.name();
      const rules = [
        ...keys(key).map((one) => `~${one}`),
        ...(leaseMs ? keys(key).map((one) => `&${one}`) : []),
        '-@all',
        ...['eval', 'evalsha', 'ping', 'client', ...needed].map((command) => `+${command.toLowerCase()}`),
      ];
      expect(await advice(rules, key)).toBe('');
      expect(await admin.keys(`*{${key}}*probe*`)).toEqual([]);
      const user = await asUser(redis, admin, rules);
      const opened = { layout: layout(key), plan, hasSource, leaseMs, drainMs: 0 };
      const { filter, close } = await redis.open(key, { redis: user }, opened);
      await build(filter, hasSource ? idsOf('id', 20) : [], plan);
      expect(await filter.add(['new'])).toEqual([true]);
      expect(await filter.check(['new', 'none'])).toEqual(['maybe', 'absent']);
      await close();
    });
  });
}

const ofBlocked: Case = {
  layout: () => blocked,
  scripts: [
    'add',
    'check',
    'offline',
    'publish',
    'swap',
    'withdraw',
    'stage',
    'load',
    'merge',
    'negativeCache',
  ],
  keys: (key) => [`bloom:{${key}}:*`],
};
describeAdvice('a filter of layout blocked', ofBlocked);
describeAdvice('a filter of layout blocked that is read with leases', {
  ...ofBlocked,
  leaseMs: 200,
  scripts: [...ofBlocked.scripts, 'copy'],
  alone: ['ZCOUNT', 'XREAD'],
});
describeAdvice('a filter on the key of go-zero', {
  layout: (key) => goZero({ key, bits: 20_000 }),
  scripts: ['bitmap'],
  keys: (key) => [key, `{${key}}:nestjs-bloom:*`],
});
describeAdvice('a filter on the keys of Redisson', {
  layout: redissonPeer({ codec: 'StringCodec' }).layout,
  scripts: ['bitmap'],
  keys: (key) => [key, redisson.keys(key).config, `{${key}}:nestjs-bloom:*`],
});
describeAdvice('a filter that grows', {
  layout: () => scaling(),
  hasSource: false,
  scripts: ['growing', 'stage', 'merge'],
  keys: (key) => [`bloom:{${key}}:*`],
});

describeOwnBf('With BF.* and CF.*', () => {
  describeAdvice('a filter of BF.*', {
    layout: (key) => redisBloom({ key }),
    scripts: ['bf'],
    alone: ['BF.INFO'],
    keys: (key) => [key, `{${key}}:nestjs-bloom:*`],
    start: ownBfFixture,
  });
  describeAdvice('a filter of CF.*', {
    layout: () => cuckoo(),
    scripts: ['cf'],
    keys: (key) => [`bloom:{${key}}:cf:*`],
    start: ownBfFixture,
  });
});
