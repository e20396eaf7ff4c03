import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { describeOwnBf, ownBfFixture } from '../../../support/bf-server.js';
import { build, idsOf, testPlan } from '../../../support/built-filter.js';
import type { Counts, ProcessOptions } from '../../../support/processes/process-protocol.js';
import { Processes } from '../../../support/processes/processes.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import { layoutOf, type LayoutRecipe } from '../../../../packages/interop/test/support/layout-recipe.js';

const PROCESSES = 3;
const RUN_MS = 2500;
const FIRST = idsOf('first', 100);

interface Case {
  readonly layout: LayoutRecipe;
  readonly plan: ProcessOptions['plan'];
  readonly hasSource: boolean;
  readonly removes?: boolean;
}

/**
 * Processes add, look up, remove and rebuild, and their connections are cut: no id of the ledger is ever
 * denied.
 */
function describeProcesses(start: () => Promise<RedisFixture>, cases: Record<string, Case>): void {
  let redis: RedisFixture;
  let admin: Redis;
  beforeAll(async () => {
    redis = await start();
    admin = redis.client();
  });
  afterAll(() => redis.close());

  it.each(Object.entries(cases))('%s', async (_, { layout, plan, hasSource, removes = false }) => {
    const name = redis.name();
    const drainMs = removes ? 300 : 0;
    const open = async () =>
      (await redis.open(name, {}, { layout: layoutOf(layout), plan, hasSource, drainMs })).filter;
    const filter = await open();
    await build(filter, hasSource ? FIRST : [], plan);
    if (!hasSource) await filter.add(FIRST);

    const processes = new Processes(FIRST);
    const common = { redisUrl: redis.server.url, filter: name, layout, plan, hasSource, removes, drainMs };
    const options = Array.from({ length: PROCESSES }, (_, i) => ({
      ...common,
      label: `process-${i}`,
      // Where ids are removed there is time for it between two rebuilds.
      rebuildsEveryMs: hasSource && i < 2 ? (removes ? 700 : 50) : undefined,
    }));
    const meanwhile = () => admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    // Or nothing was tried.
    const isEnough = ({ adds, lookUps, absents, rebuilds, removals }: Counts) =>
      adds > 100 &&
      lookUps > 1000 &&
      absents > 20 &&
      (!hasSource || rebuilds > 0) &&
      (!removes || removals > 20);
    await processes.run(options, { forMs: RUN_MS, isEnough, meanwhile });
    expect(processes.wrong).toEqual([]);
    const last = [...FIRST, ...processes.ledger];
    expect(await (await open()).check(last)).not.toContain('absent');
  });
}

const plan = testPlan({ capacity: 2000, errorRate: 0.01 });

describe('Several processes at once deny no id that one of them has added', () => {
  describeProcesses(() => RedisFixture.start(), {
    'a filter that grows': {
      layout: { maker: 'scaling' },
      plan: testPlan({ capacity: 50, errorRate: 0.01 }),
      hasSource: false,
    },
    'a filter on the key of go-zero': {
      // With the bits of the live string kept, adds to it alone would do.
      layout: { maker: 'goZero', options: { key: 'shared', bits: 200_000, foreignAdds: 'none' } },
      plan,
      hasSource: true,
    },
  });
});

describeOwnBf('Several processes at once deny no id, on a server with BF.* and CF.*', () => {
  describeProcesses(ownBfFixture, {
    'BF.*': { layout: { maker: 'redisBloom', options: { key: 'shared' } }, plan, hasSource: true },
    'CF.*, from which ids are removed': {
      layout: { maker: 'cuckoo' },
      plan: testPlan({ capacity: 1000, errorRate: 0.05 }),
      hasSource: true,
      removes: true,
    },
  });
});
