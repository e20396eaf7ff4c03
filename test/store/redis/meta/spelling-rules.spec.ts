import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { partOf } from '../../../../src/filter/index.js';
import type { OpenFilterOptions, StoredFilter } from '../../../../src/store/index.js';
import { BrokenLibrary, type Cut } from '../../../support/broken-library.js';
import { build, commitIds, leaseOf, testPlan } from '../../../support/built-filter.js';
import { openOptions } from '../../../support/open-options.js';
import { PATIENT } from '../../../support/patience.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

/**
 * The rules of `verification/model`, in `rebuild.ts` and `spelled-parts.ts`, and how each is taken out of the
 * library.
 */
const RULES: Readonly<Record<string, Cut>> = {
  'spelling-of-answer': {
    file: 'src/store/redis/meta/contents-check.ts',
    from: 'if (difference !== undefined) {',
    to: 'if (difference !== undefined && !WITHOUT) {',
  },
  'spelling-at-add': {
    file: 'src/store/redis/filter/stored-filter-in-redis.ts',
    from: 'next.others; attempt++',
    to: 'next.others && !WITHOUT; attempt++',
  },
  'spelling-at-staging': {
    file: 'src/store/redis/meta/contents-check.ts',
    from: 'return (found !== undefined || hasSource) &&',
    to: 'return !WITHOUT && (found !== undefined || hasSource) &&',
  },
  'end-all': {
    file: 'src/store/partitions/part-contents.ts',
    from: 'parts.map((part) => part.endOthers())',
    to: '(WITHOUT ? [] : parts).map((part) => part.endOthers())',
  },
  'look-at-epoch': {
    file: 'src/store/partitions/partitioned-filter.ts',
    from: 'if (isNowhere && this.options.hasSource)',
    to: 'if (isNowhere && this.options.hasSource && !WITHOUT)',
  },
  'see-ending': {
    file: 'src/store/partitions/part-contents.ts',
    from: 'if (epoch && !epoch.isEnding) return;',
    to: 'if (epoch && (WITHOUT || !epoch.isEnding)) return;',
  },
};

const PARTS = 4;
/** One that is in different parts by its two spellings. */
const ID = ['1', '2', '3', '4', '5'].find((id) => partOf(`a:${id}`, PARTS) !== partOf(`b:${id}`, PARTS))!;

let redis: RedisFixture;
let library: BrokenLibrary;
let RedisStore: typeof import('../../../../src/store/redis/index.js').RedisStore;
let PartitioningStore: typeof import('../../../../src/store/partitions/index.js').PartitioningStore;
let name = '';
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  library = BrokenLibrary.open(RULES);
  ({ RedisStore } =
    await library.load<typeof import('../../../../src/store/redis/index.js')>('src/store/redis/index.ts'));
  ({ PartitioningStore } = await library.load<typeof import('../../../../src/store/partitions/index.js')>(
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

/** A process that spells the id `1` as `a:1`, or as `b:1`. */
async function open(spelling: 'a' | 'b', partitions?: number): Promise<StoredFilter> {
  const emit = () => {};
  const store = await RedisStore.connect({
    redis: redis.server.url,
    keyPrefix: 'bloom',
    trustAfterFailover: false,
    ...PATIENT,
    emit,
  });
  const contents: OpenFilterOptions['contents'] = () => ({ spelling, rows: undefined });
  const options = openOptions({ name, emit, partitions, contents, hasSource: true });
  const filter = new PartitioningStore(store).open(options);
  opened.push({ close: () => filter.close().then(() => store.close()) });
  return filter;
}

/** Verdicts that processes give for the id whose add was acknowledged, or whose row was read. */
type Verdicts = readonly string[];

/**
 * A filter of one spelling, to which a process of the other adds the id; what the first one then says of it.
 */
async function added(
  partitions?: number,
  before: () => Promise<unknown> = async () => {},
): Promise<Verdicts> {
  const [first, second] = [await open('a', partitions), await open('b', partitions)];
  await build(first, ['a:row']);
  expect(await first.check(['a:row', `a:${ID}`])).toEqual(['maybe', 'absent']);
  await before();
  await second.add([`b:${ID}`]);
  return first.check([`a:${ID}`]);
}

const SCENARIOS: Record<string, () => Promise<Verdicts>> = {
  'spelling-of-answer': async () => {
    await build(await open('a'), ['a:row']);
    return (await open('b')).check(['b:row']);
  },
  'spelling-at-add': () => added(),
  'spelling-at-staging': async () => {
    const [first, second] = [await open('a'), await open('b')];
    await build(first, ['a:row']);
    const lease = await leaseOf(second);
    const staging = await lease.stage(testPlan());
    await first.add([`a:${ID}`]);
    await commitIds(staging, ['b:row']).catch(() => {});
    await lease.release();
    await second.describe();
    return [...(await second.check([`b:${ID}`])), ...(await first.check([`a:${ID}`]))];
  },
  'end-all': () => added(PARTS),
  'look-at-epoch': () => added(PARTS),
  // As a process has left it that died when it had begun an epoch.
  'see-ending': () => added(PARTS, () => redis.client().set(`bloom:{${name}}:epoch`, 'name ending b ')),
};

async function verdictsOf(rule: string, taken: string | undefined): Promise<Verdicts> {
  name = redis.name();
  library.take(taken);
  return SCENARIOS[rule]!();
}

describe.each(Object.keys(SCENARIOS))('The rule of spellings %s', (rule) => {
  it('keeps the promise', async () => {
    expect(await verdictsOf(rule, undefined)).not.toContain('absent');
  });

  it('is needed: without it an id that is promised is "absent"', async () => {
    expect(await verdictsOf(rule, rule)).toContain('absent');
  });
});

it('has a scenario for each rule that is taken out', () => {
  expect(Object.keys(SCENARIOS)).toEqual(Object.keys(RULES));
});
