import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { partOf } from '../../../src/filter/index.js';
import type { OpenFilterOptions, StoredFilter } from '../../../src/store/index.js';
import { partName } from '../../../src/store/redis/meta/redis-keys.js';
import { BrokenLibrary, type Cut } from '../../support/broken-library.js';
import { build, commitIds, idsOf, leaseOf, mergeIds, testPlan } from '../../support/built-filter.js';
import { openOptions } from '../../support/open-options.js';
import { PATIENT } from '../../support/patience.js';
import { RedisFixture } from '../../support/redis-fixture.js';

/** The rules that partitions add to those of one filter, and how each is taken out of the library. */
const RULES: Readonly<Record<string, Cut>> = {
  'stable-hash': {
    file: 'src/filter/parts.ts',
    from: 'hash.hash(hashed(id));',
    to: 'hash.hash(WITHOUT ? String(Math.random()) : hashed(id));',
  },
  'number-in-format': {
    file: 'src/store/redis/meta/redis-keys.ts',
    from: 'return String(BASE + parts);',
    to: 'return String(BASE + (WITHOUT ? 1 : parts));',
  },
  'first-part-looked-at': {
    file: 'src/store/partitions/partitioned-filter.ts',
    from: 'if (isNowhere) await',
    to: 'if (isNowhere && !WITHOUT) await',
  },
  'given-up': {
    file: 'src/store/partitions/rebuilt-part.ts',
    from: '      this.giveUp(error);\n',
    to: '      if (!WITHOUT) this.giveUp(error);\n',
  },
  'missing-in-part': {
    file: 'src/store/partitions/partitioned-staging.ts',
    from: 'if (parts.has(part.part)) part.giveUp(',
    to: 'if (parts.has(part.part) && !WITHOUT) part.giveUp(',
  },
  'lost-not-unbuilt': {
    file: 'src/store/partitions/part-totals.ts',
    from: 'if (hasSource || !hasIds) return parts;',
    to: 'if (hasSource || !hasIds || WITHOUT) return parts;',
  },
};

const IDS = idsOf('built', 200);
const PARTS = 4;

let redis: RedisFixture;
let library: BrokenLibrary;
let RedisStore: typeof import('../../../src/store/redis/index.js').RedisStore;
let PartitioningStore: typeof import('../../../src/store/partitions/index.js').PartitioningStore;
let name = '';
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  library = BrokenLibrary.open(RULES);
  ({ RedisStore } =
    await library.load<typeof import('../../../src/store/redis/index.js')>('src/store/redis/index.ts'));
  ({ PartitioningStore } = await library.load<typeof import('../../../src/store/partitions/index.js')>(
    'src/store/partitions/index.ts',
  ));
  redis = await RedisFixture.start();
});
afterEach(async () => {
  library.take(undefined);
  await Promise.all(opened.splice(0).map((store) => store.close()));
});
afterAll(async () => {
  library.close();
  await redis?.close();
});

/** A process of its own. */
async function open(partitions: number, options: Partial<OpenFilterOptions> = {}): Promise<StoredFilter> {
  const emit = () => {};
  const store = await RedisStore.connect({
    redis: redis.server.url,
    keyPrefix: 'bloom',
    trustAfterFailover: false,
    ...PATIENT,
    emit,
  });
  const filter = new PartitioningStore(store).open(openOptions({ name, emit, partitions, ...options }));
  opened.push({ close: () => filter.close().then(() => store.close()) });
  return filter;
}

/** Ids of one part. */
const idsIn = (part: number, of: number, ids: readonly string[]) =>
  ids.filter((id) => partOf(id, of) === part);

interface Outcome {
  readonly filter: StoredFilter;
  /** Ids whose add was acknowledged, or which a source returned. */
  readonly promised: readonly string[];
}

const SCENARIOS: Record<string, () => Promise<Outcome>> = {
  'stable-hash': async () => {
    await build(await open(PARTS), IDS);
    return { filter: await open(PARTS), promised: IDS };
  },

  'number-in-format': async () => {
    await build(await open(16), IDS);
    return { filter: await open(8), promised: IDS };
  },

  'first-part-looked-at': async () => {
    const [first, second] = [await open(PARTS), await open(8)];
    // Both have seen that there is nothing yet.
    for (const filter of [first, second])
      expect(new Set(await filter.check(idsOf('x', 100)))).toEqual(new Set(['unknown']));
    const lease = await leaseOf(first);
    const staging = await lease.stage(testPlan());
    const promised: string[] = [];
    for (const id of idsIn(7, 8, idsOf('late', 100)))
      await second.add([id]).then(
        () => promised.push(id),
        () => {},
      );
    await commitIds(staging, IDS);
    await lease.release();
    return { filter: first, promised: [...IDS, ...promised] };
  },

  'given-up': async () => {
    await build(await open(PARTS), IDS);
    const filter = await open(PARTS);
    const admin = redis.client();
    const lease = await leaseOf(filter);
    const staging = await lease.stage(testPlan());
    const writable = [0, 1, 3].map((part) => `~bloom:{${partName(name, part)}}*`);
    await admin.call('ACL', 'SETUSER', 'default', 'resetkeys', '%R~*', ...writable);
    try {
      await mergeIds(staging, IDS).catch(() => {});
    } finally {
      await admin.call('ACL', 'SETUSER', 'default', 'resetkeys', '~*');
    }
    await staging.commit(IDS.length).catch(() => {});
    await lease.release();
    return { filter, promised: IDS };
  },

  'missing-in-part': async () => {
    await build(await open(PARTS), IDS);
    const filter = await open(PARTS);
    const lease = await leaseOf(filter);
    const staging = await lease.stage(testPlan());
    // As where the store has lost what was written to one staged part.
    const lost = idsIn(2, PARTS, IDS);
    await mergeIds(
      staging,
      IDS.filter((id) => !lost.includes(id)),
    );
    const verdicts = await staging.check(IDS);
    const missing = IDS.filter((_, i) => verdicts[i] === 'absent');
    expect(missing).toEqual(lost);
    expect(staging.giveUpPartsOf!(missing)).toBe(true);
    await staging.commit(IDS.length).catch(() => {});
    await lease.release();
    return { filter, promised: IDS };
  },

  'lost-not-unbuilt': async () => {
    const without = { hasSource: false } as const;
    const before = await open(PARTS, without);
    await build(before, []);
    await before.add(IDS);
    const admin = redis.client();
    for (const key of await admin.keys(`bloom:{${partName(name, 2)}}:*`)) await admin.del(key);
    const filter = await open(PARTS, without);
    // As a process does at its start, which creates what is not there.
    const lease = await filter.lease({
      leaseMs: 60_000,
      unless: ({ state }) => (state === 'unbuilt' ? undefined : 'It is there.'),
    });
    if (lease && lease.declined === undefined) await commitIds(await lease.stage(testPlan()), []);
    await lease?.release();
    return { filter, promised: IDS };
  },
};

/** The verdicts of ids that are promised. */
async function verdictsAfter(rule: string, taken: string | undefined): Promise<ReadonlySet<string>> {
  name = redis.name();
  library.take(taken);
  const { filter, promised } = await SCENARIOS[rule]!();
  // A process asks for the metadata by its first lookup.
  await filter.check(promised);
  return new Set(await filter.check(promised));
}

describe.each(Object.keys(SCENARIOS))('The rule of partitions %s', (rule) => {
  it('keeps the promise', async () => {
    expect(await verdictsAfter(rule, undefined)).not.toContain('absent');
  });

  it('is needed: without it an id that is promised is "absent"', async () => {
    expect(await verdictsAfter(rule, rule)).toContain('absent');
  });
});

it('has a scenario for each rule that is taken out', () => {
  expect(Object.keys(SCENARIOS)).toEqual(Object.keys(RULES));
});
