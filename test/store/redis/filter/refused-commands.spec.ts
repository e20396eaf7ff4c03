import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BloomUnavailableError } from '../../../../src/common/index.js';
import { type BloomLayout, blocked } from '../../../../src/filter/index.js';
import { describeOwnBf, ownBfFixture } from '../../../support/bf-server.js';
import { build, idsOf, testPlan } from '../../../support/built-filter.js';
import { commandsOf } from '../../../support/lua-commands.js';
import { redissonPeer } from '../../../../packages/interop/test/support/peers/redisson-peer.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import { asUser } from '../../../support/restricted-user.js';
import { cuckoo, goZero, redisBloom } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';

const BUILT = idsOf('built', 50);
const target = { capacity: 1000, errorRate: 0.01 };

interface Case {
  readonly layout: (key: string) => BloomLayout;
  readonly hasSource?: boolean;
  /** Scripts of lookups, adds and removals, and those of rebuilds: how their names begin. */
  readonly used: readonly string[];
  readonly ofBuilds?: readonly string[];
  readonly start?: () => Promise<RedisFixture>;
}

/** A filter with ids, and a process whose user may do everything but run one command. */
function describeRefused(name: string, one: Case): void {
  const { layout, hasSource = true, used, ofBuilds = [], start = () => RedisFixture.start() } = one;

  describe(`A process that may not run a command of ${name}`, () => {
    let redis: RedisFixture;
    let admin: Redis;
    beforeAll(async () => {
      redis = await start();
      admin = redis.client();
    });
    afterAll(() => redis.close());

    async function openRefused(command: string) {
      const key = redis.name();
      const opened = { layout: layout(key), plan: testPlan(target), drainMs: 0, hasSource };
      const { filter } = await redis.open(key, {}, opened);
      await build(filter, hasSource ? BUILT : [], target);
      if (!hasSource) await filter.add(BUILT);
      const user = await asUser(redis, admin, ['~*', '+@all', `-${command.toLowerCase()}`]);
      const { filter: refused, close } = await redis.open(key, { redis: user }, opened);
      return { filter, refused, close };
    }

    it.each(commandsOf([...used, 'describe', 'generationOffline']))(
      'denies no id, loses no add and takes nothing from others: %s',
      async (command) => {
        const { filter, refused, close } = await openRefused(command);
        for (let i = 0; i < 2; i++) expect(await refused.check(BUILT)).not.toContain('absent');
        const added = await refused.add(['new']).catch((error: unknown) => error);
        if (added instanceof Error) expect(added).toBeInstanceOf(BloomUnavailableError);
        else expect(await filter.check(['new'])).toEqual(['maybe']);
        const removed = refused.remove
          ? await refused.remove([BUILT[0]!]).catch((error: unknown) => error)
          : undefined;
        if (removed instanceof Error) expect(removed).toBeInstanceOf(BloomUnavailableError);
        expect((await filter.describe()).state).toBe('ready');
        expect(new Set(await filter.check(BUILT.slice(1)))).toEqual(new Set(['maybe']));
        await close();
      },
    );

    if (ofBuilds.length === 0) return;
    it.each(commandsOf([...ofBuilds, 'generation', 'publish', 'withdraw', 'renew', 'release']))(
      'denies no id when it rebuilds, and others can rebuild: %s',
      async (command) => {
        const { filter, refused, close } = await openRefused(command);
        await build(refused, BUILT, target).catch(() => {});
        for (const each of [refused, filter]) expect(await each.check(BUILT)).not.toContain('absent');
        await close();
        for (const key of await admin.keys('*lease')) await admin.del(key);
        await build(filter, BUILT, target);
        expect(new Set(await filter.check(BUILT))).toEqual(new Set(['maybe']));
      },
    );
  });
}

describeRefused('a filter of layout blocked', {
  layout: () => blocked,
  used: ['check', 'add'],
  ofBuilds: ['stage', 'publish', 'load', 'merge', 'swap'],
});
const ofBits = { used: ['bitmapCheck', 'bitmapAdd'], ofBuilds: ['bitmap'] };
describeRefused('go-zero', { layout: (key) => goZero({ key, bits: 20_000 }), ...ofBits });
describeRefused('Redisson', { layout: redissonPeer({ codec: 'StringCodec' }).layout, ...ofBits });
describeRefused('a filter that grows', {
  layout: () => scaling(),
  hasSource: false,
  used: ['growingCheck', 'growingAdd'],
});

describeOwnBf('On a server with BF.* and CF.*', () => {
  describeRefused('BF.*', {
    layout: (key) => redisBloom({ key }),
    used: ['bfCheck', 'bfAdd'],
    ofBuilds: ['bf'],
    start: ownBfFixture,
  });
  describeRefused('CF.*', {
    layout: () => cuckoo(),
    used: ['cfCheck', 'cfAdd', 'cfClock', 'cfRemove'],
    ofBuilds: ['cf'],
    start: ownBfFixture,
  });
});
