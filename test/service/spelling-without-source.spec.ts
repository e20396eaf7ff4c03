import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BloomConfigError, BloomUnavailableError, systemClock } from '../../src/common/index.js';
import { goZero } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';
import { defineFilter, ManagedFilter } from '../../src/service/index.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { forgetContents, LOWER, type Options, Process, ROWS } from '../support/spelling-process.js';

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

const SOURCELESS: [string, (name: string) => Options][] = [
  ['one generation', () => ({})],
  ['partitions', () => ({ partitions: 3 })],
  ['layers', () => ({ layout: scaling() })],
];

describe.each(SOURCELESS)('A filter without a source, of %s', (_, optionsOf) => {
  it('rejects adds of another spelling and answers it nothing, until it is reset', async () => {
    const name = redis.name();
    const start = (options: Options = {}) => Process.start(redis, name, { ...optionsOf(name), ...options });
    const before = await start();
    await before.filter.addMany(ROWS);
    const after = await start({ normalize: LOWER });
    expect(await after.verdicts(ROWS)).toEqual(['unknown']);
    await expect(after.filter.add('New')).rejects.toThrow(BloomUnavailableError);
    await expect(after.filter.add('New')).rejects.toThrow(
      /the id was not recorded\. The process that built this filter has another normalize.*or reset\(\) is called here/,
    );
    expect(await before.verdicts(ROWS)).toEqual(['maybe']);
    expect(await before.verdicts(['none'])).toEqual(['absent']);
    const same = await start({ normalize: (id) => id });
    expect(await same.filter.add('New')).toBe(true);
    expect(await same.verdicts([...ROWS, 'New'])).toEqual(['maybe']);

    await after.filter.reset();
    expect(await after.filter.add('New')).toBe(true);
    expect(await after.verdicts(['new', 'NEW'])).toEqual(['maybe']);
    await before.look();
    expect(await before.verdicts(['New', 'none'])).toEqual(['unknown']);
    await expect(before.filter.add('more')).rejects.toThrow(/was not recorded/);
    for (const { filter } of [before, after, same]) await filter.close();
  });

  it('that an older version built is taken to hold the ids of the first process', async () => {
    const name = redis.name();
    const start = (options: Options = {}) => Process.start(redis, name, { ...optionsOf(name), ...options });
    const before = await start();
    await before.filter.addMany(ROWS);
    await before.filter.close();
    await forgetContents(redis, name);
    const [first, second] = [await start(), await start({ normalize: LOWER })];
    expect(await first.verdicts(ROWS)).toEqual(['maybe']);
    expect(await second.verdicts(ROWS)).toEqual(['unknown']);
    expect(await first.filter.add('New')).toBe(true);
    for (const { filter } of [first, second]) await filter.close();
  });
});

it('A filter on a key of others is taken with another normalize by adopt()', async () => {
  const layout = goZero({ key: redis.name(), bits: 100_000 });
  await redis.client().setbit((layout as unknown as { claimedKey: string }).claimedKey, 99_999, 0);
  const [before, after] = [
    await Process.start(redis, redis.name(), { layout }),
    await Process.start(redis, redis.name(), { layout, normalize: LOWER }),
  ];
  await before.filter.add('Row');
  expect(await after.verdicts(['Row'])).toEqual(['unknown']);
  await expect(after.filter.add('Row')).rejects.toThrow(/was not recorded.*or adopt\(\) is called here/);
  await after.filter.adopt();
  expect(await after.filter.add('Row')).toBe(true);
  expect(await after.verdicts(['ROW'])).toEqual(['maybe']);
  for (const { filter } of [before, after]) await filter.close();
});

it.each<[string, (id: unknown) => string]>([
  [
    'a counter',
    (
      (calls) => (id: unknown) =>
        `${String(id)}-${calls++}`
    )(0),
  ],
  ['a random value', (id) => `${String(id)}${Math.random()}`],
])('A normalize that depends on %s is refused at start', async (_, normalize) => {
  const { store } = await redis.open('unused');
  const open = () =>
    new ManagedFilter(defineFilter({ name: 'varies', capacity: 1000, normalize }), {
      store,
      emit: () => {},
      clock: systemClock,
    });
  expect(open).toThrow(BloomConfigError);
  expect(open).toThrow(/'varies': expected normalize to make the same key of an id each time/);
});
