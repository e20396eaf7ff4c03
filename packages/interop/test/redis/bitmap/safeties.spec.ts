import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { ForeignAdds } from '../../../src/index.js';
import { runRebuild } from '../../../../../src/rebuild/index.js';
import { luaSources } from '../../../../../test/support/lua-sources.js';
import { luaReplacing, luaWithout } from '../../../../../test/support/broken-lua.js';
import { idsOf } from '../../../../../test/support/built-filter.js';
import { goZeroPeer } from '../../support/peers/go-zero-peer.js';
import { redissonPeer } from '../../support/peers/redisson-peer.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { heldSource, rebuildJob, sourceOf } from '../../../../../test/support/rebuild-job.js';
import { RedisFixture } from '../../../../../test/support/redis-fixture.js';

const BUILT = idsOf('built', 100);
const goZero = goZeroPeer(200_000);
const redisson = redissonPeer({ codec: 'StringCodec' }, undefined, { resize: true });

/** Some attempts, on a machine that is busy. */
const SHOWN_WITHIN_MS = 120_000;

let redis: RedisFixture;
let admin: Redis;

beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

type Lua = typeof luaSources;

async function built(lua: Lua, peer = goZero, foreignAdds: ForeignAdds = 'keep') {
  const key = redis.name();
  const layout = peer.layout(key, { foreignAdds });
  const open = async () => (await redis.open(key, { lua }, { layout })).filter;
  const [one, two] = [await open(), await open()];
  await runRebuild(rebuildJob(one, sourceOf(BUILT)));
  // Two views that say: ready, nothing is staged.
  await one.check(BUILT);
  await two.check(BUILT);
  return { key, one, two };
}

type Filters = Awaited<ReturnType<typeof built>>;

/** Runs a rebuild of an id or two, and something in the middle of it. */
async function rebuildDuring({ one }: Filters, during: () => Promise<unknown>, ids = [...BUILT, 'read']) {
  const held = heldSource(ids);
  const run = runRebuild(rebuildJob(one, held.source));
  await held.reached;
  await during();
  held.release();
  await run;
}

/** What is done to a filter, and whether an id that must not be absent is. */
const SCENARIOS: Record<string, (lua: Lua) => Promise<boolean>> = {
  'a peer adds during a rebuild': async (lua) => {
    const filters = await built(lua);
    await rebuildDuring(filters, () => goZero.add(admin, filters.key, 'there'));
    return isAbsent(filters, 'there');
  },
  'the key vanishes during a rebuild, after a peer has added': async (lua) => {
    const filters = await built(lua);
    const adding = async () => {
      await goZero.add(admin, filters.key, 'there');
      await admin.del(filters.key);
    };
    await rebuildDuring(filters, adding).catch(() => {});
    return isAbsent(filters, 'there');
  },
  'a process adds during a rebuild': async (lua) => {
    const filters = await built(lua, goZero, 'none');
    await rebuildDuring(filters, () => filters.two.add(['here']));
    return isAbsent(filters, 'here');
  },
  'a process that knows another size adds': async (lua) => {
    const filters = await built(lua, redisson);
    await rebuildDuring(filters, async () => {}, idsOf('many', 4000));
    await filters.two.add(['here']);
    return (await filters.one.check(['here']))[0] === 'absent';
  },
  'the key is deleted': async (lua) => {
    const filters = await built(lua);
    await admin.del(filters.key);
    return isAbsent(filters, 'built-1');
  },
  'the key is zeros': async (lua) => {
    const filters = await built(lua);
    await admin.set(filters.key, Buffer.alloc(await admin.strlen(filters.key)));
    return isAbsent(filters, 'built-1');
  },
  'a peer puts back a copy that is older than an add': async (lua) => {
    const filters = await built(lua);
    const copy = (await admin.getBuffer(filters.key))!;
    await filters.one.add(['here']);
    await admin.set(filters.key, copy);
    return isAbsent(filters, 'here');
  },
  'the size changes under a process': async (lua) => {
    const filters = await built(lua, redisson);
    await rebuildDuring(filters, async () => {}, idsOf('many', 4000));
    return (await filters.two.check(idsOf('many', 20))).includes('absent');
  },
};

async function isAbsent({ one, two }: Filters, id: string): Promise<boolean> {
  const verdicts = [...(await one.check([id])), ...(await two.check([id]))];
  return verdicts.includes('absent');
}

const TAKEN_OUT: [safety: string, lua: () => Lua, scenario: string][] = [
  ['the merge of the live bits', () => luaWithout('foreign-adds'), 'a peer adds during a rebuild'],
  [
    'the mark on the live string',
    () => luaWithout('marked'),
    'the key vanishes during a rebuild, after a peer has added',
  ],
  ['the double write', () => luaWithout('double-write'), 'a process adds during a rebuild'],
  [
    'the comparison of the staged token in add',
    () => luaWithout('add-pending-tag'),
    'a process adds during a rebuild',
  ],
  [
    'the comparison of the live token and the proof in add',
    () => luaReplacing('bitmapAdd', /--safety:add-tag[^]*?--end/, unprovedAdd()),
    'a process that knows another size adds',
  ],
  [
    'the proof in check',
    () => luaWithout('settings', ['bitmapCheck'], luaWithout('check-proof', ['bitmapCheck'])),
    'the key is deleted',
  ],
  [
    'the canaries in check',
    () => luaReplacing('bitmapCheck', "~= '\\255' then return 'LOST' end", "== 'x' then return 'LOST' end"),
    'the key is zeros',
  ],
  [
    'the bits that were added last, in add and check',
    () => luaWithout('recent-bits'),
    'a peer puts back a copy that is older than an add',
  ],
  [
    'token and proof in check',
    () => luaReplacing('bitmapCheck', 'if not allFound then', 'if false then'),
    'the size changes under a process',
  ],
];

/** Nothing after this line of the script asks for proof. */
function unprovedAdd(): string {
  return "ARGV[3] = struct.pack('>I4B', redis.call('STRLEN', KEYS[2]), 0); for i = 9, #ARGV do ARGV[i] = nil end";
}

describe('A filter on the keys of a peer', () => {
  it.each(Object.keys(SCENARIOS))('has no wrong "absent" when %s', async (scenario) => {
    expect(await SCENARIOS[scenario]!(luaSources)).toBe(false);
  });

  it.each(TAKEN_OUT)('has one without %s', async (_, lua, scenario) => {
    // Metadata are read again after a second, and a machine may take that long for a scenario: then nothing
    // is wrong.
    await eventually('an id is wrongly absent', () => SCENARIOS[scenario]!(lua()), SHOWN_WITHIN_MS);
  });
});
