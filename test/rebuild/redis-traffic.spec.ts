import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runRebuild } from '../../src/rebuild/index.js';
import { luaWithout } from '../support/broken-lua.js';
import { Random, SEED } from '../support/random.js';
import { rebuildJob } from '../support/rebuild-job.js';
import { type Instance, RedisFixture } from '../support/redis-fixture.js';

const REBUILDS = 10;
/** Rebuilds after which something must have happened, however slow the machine is. */
const MOST_REBUILDS = 500;

interface Seen {
  readonly wrong: number;
  readonly lookUps: number;
  readonly added: number;
}

/** Longest time from an add to its row. */
const COMMIT_MS = 10;

/** Rows, as a database shows them: visible a while after their id was added. */
class Table {
  readonly rows: string[] = [];

  async *ids() {
    // In pages, with time between them, as a scan of a table takes it.
    for (let at = 0; at < this.rows.length; at += 500) {
      yield this.rows.slice(at, at + 500);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

describe('While filters are rebuilt one after the other, growing, under adds and lookups of three instances', () => {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await RedisFixture.start();
  });
  afterAll(() => redis.close());

  /** Goes on until enough has been seen. */
  async function observe(
    isEnough: (seen: Seen) => boolean,
    options: Parameters<RedisFixture['open']>[1] = {},
  ): Promise<Seen> {
    const name = redis.name();
    const instances = await Promise.all([1, 2, 3].map(() => redis.open(name, options)));
    const random = new Random(SEED);
    const table = new Table();
    const added: string[] = [];
    const wrong = new Set<string>();
    let isOver = false;
    let lookUps = 0;

    const add = async ({ filter }: Instance, label: string) => {
      for (let i = 0; !isOver; i++) {
        const id = `${label}-${i}`;
        await filter.add([id]);
        added.push(id);
        await new Promise((resolve) => setTimeout(resolve, random.below(COMMIT_MS)));
        table.rows.push(id);
      }
    };
    const lookUp = async ({ filter }: Instance, bulk: number) => {
      while (!isOver) {
        const ids = Array.from({ length: bulk }, () =>
          added.length > 0 ? added[random.below(added.length)]! : 'none',
        );
        const known = ids.filter((id) => id !== 'none');
        const verdicts = known.length > 0 ? await filter.check(known) : [];
        lookUps += known.length;
        known.forEach((id, i) => verdicts[i] === 'absent' && wrong.add(id));
        await new Promise(setImmediate);
      }
    };
    const traffic = instances.flatMap((instance, i) => [
      ...[1, 2, 3].map((adder) => add(instance, `${i}-${adder}`)),
      lookUp(instance, 1),
      lookUp(instance, 50),
    ]);
    const seen = () => ({ wrong: wrong.size, lookUps, added: added.length });
    for (let run = 0; run < REBUILDS || (run < MOST_REBUILDS && !isEnough(seen())); run++) {
      const { filter } = instances[run % instances.length]!;
      const settings = { drainMs: 15 * COMMIT_MS, capacity: 50, errorRate: 1e-4, minRatio: 0 };
      await runRebuild(rebuildJob(filter, table, settings));
    }
    isOver = true;
    await Promise.all(traffic);
    await Promise.all(instances.map(({ close }) => close()));
    return seen();
  }

  it(`no id that was added is ever absent (seed ${SEED})`, async () => {
    const { wrong, lookUps, added } = await observe((seen) => seen.lookUps > 1000 && seen.added > 200);
    expect(wrong).toBe(0);
    expect(lookUps).toBeGreaterThan(1000);
    expect(added).toBeGreaterThan(200);
  });

  it(`ids would be, were adds not written to both generations (seed ${SEED})`, async () => {
    const lua = { lua: luaWithout('double-write') };
    const { wrong } = await observe((seen) => seen.wrong > 0, lua);
    expect(wrong).toBeGreaterThan(0);
  });
});
