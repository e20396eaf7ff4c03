import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { describeError } from '../../../../src/common/index.js';
import type { BloomLayout } from '../../../../src/filter/index.js';
import { runRebuild } from '../../../../src/rebuild/index.js';
import type { OpenFilterOptions } from '../../../../src/store/index.js';
import { idsOf, testPlan } from '../../../support/built-filter.js';
import { rebuildJob, sourceOf } from '../../../support/rebuild-job.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import { asUser } from '../../../support/restricted-user.js';

const BUILT = idsOf('built', 50);
const plan = testPlan({ capacity: 300, errorRate: 0.001 });

/** The commands that docs/operations.md names for the kinds of filters. */
function commandsOfTable(...kinds: readonly string[]): string[] {
  const table = readFileSync('docs/operations.md', 'utf8').matchAll(/^\| ([^|]+?) +\| (`.+`) +\|$/gm);
  const rows = new Map([...table].map(([, kind, commands]) => [kind!, commands!]));
  return kinds.flatMap((kind) => {
    const row = rows.get(kind);
    if (row === undefined) throw new Error(`docs/operations.md has no row '${kind}'.`);
    return [...row.matchAll(/`([A-Z.|\\]+)`/g)].map(([, command]) => command!.replace('\\', ''));
  });
}

interface Kind {
  /** Rows of the table. */
  readonly rows: readonly string[];
  readonly layout: (key: string) => BloomLayout;
  readonly hasSource?: boolean;
  readonly negativeCache?: OpenFilterOptions['negativeCache'];
  readonly start?: () => Promise<RedisFixture>;
}

/** @param each whether it is shown of each command as well that it is needed */
export function describeKind(name: string, one: Kind, { each = true }: { each?: boolean } = {}): void {
  const { rows, layout, hasSource = true, negativeCache, start = () => RedisFixture.start() } = one;

  describe(`The Redis commands of ${name}`, () => {
    let redis: RedisFixture;
    let admin: Redis;
    beforeAll(async () => {
      redis = await start();
      admin = redis.client();
      await admin.config('SET', 'maxmemory', '1gb');
    });
    afterAll(() => redis.close());

    /**
     * All that a filter goes through, by a user who may run these commands only; returns what was noticed of
     * refusals.
     */
    async function live(commands: readonly string[]): Promise<string[]> {
      await admin.flushall();
      await admin.script('FLUSH');
      const key = redis.name();
      const keys = ['~bloom:{*}*', `~${key}`, `~{${key}}*`];
      const rules = ['-@all', ...keys, ...commands.map((command) => `+${command.toLowerCase()}`)];
      const options = { ...(await asUser(redis, admin, rules)), enableReadyCheck: commands.includes('INFO') };
      const opened = { layout: layout(key), plan, drainMs: 0, hasSource, negativeCache };
      const told: string[] = [];
      const attempt = async <Result>(work: Promise<Result> | undefined) => {
        return work?.catch((error: unknown) => void told.push(describeError(error)));
      };
      const { filter, events, close } = await redis.open(key, { redis: options }, opened);
      const build = async (ids: readonly string[]) => {
        const job = rebuildJob(filter, sourceOf(ids), plan);
        await attempt(runRebuild(job, { force: true }));
      };
      await attempt(filter.verify());
      told.push(...(await filter.advise({ bytes: 1, hasSource: true, drainMs: 60_000 })));
      for (let round = 0; round < 2; round++) {
        await build(hasSource ? BUILT : []);
        await attempt(filter.add(['new']));
        // Over what is planned: a filter that grows opens a layer.
        await attempt(filter.add(idsOf('more', hasSource ? 100 : 400)));
        await filter.check(['new']);
        await filter.check([...BUILT, 'absent']);
        const question = { id: 'new', scope: 'find', since: performance.now() };
        (await filter.negativeCache?.ask(question))?.note();
        if (filter.remove) await attempt(filter.remove(['new']));
        await attempt(filter.describe());
        if (round === 0) await attempt(filter.distrust('A test.'));
      }
      await admin.del(...(await admin.keys(`*${key}}:meta`)), 'no-key');
      await filter.check(['new']);
      await attempt(filter.add(['new']));
      await build(hasSource ? BUILT : []);
      const { adopt } = filter;
      if (adopt) await attempt(filter.distrust('A test.').then(() => adopt.call(filter)));
      await close();
      told.push(...events.flatMap((event) => ('error' in event ? [describeError(event.error)] : [])));
      return told;
    }

    const refusals = async (commands: readonly string[]) =>
      (await live(commands)).filter((text) => /NOPERM|no permission|refuse|can't run/i.test(text));

    it('are those of the table: with them alone nothing is refused', async () => {
      expect(await refusals(commandsOfTable('every filter, if it may', ...rows))).toEqual([]);
    });

    if (!each) return;
    it.each(commandsOfTable(...rows))('include %s: without it something is refused', async (command) => {
      const others = commandsOfTable(...rows).filter((one) => one !== command);
      expect(await refusals(others)).not.toEqual([]);
    });
  });
}
