import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BloomRebuildError } from '../../src/common/index.js';
import { cuckoo, goZero, redisBloom } from '@nestjs-bloom/interop';
import { BF_ARGUMENTS, HOW_TO_HAVE_BF } from '../support/bf-arguments.js';
import { eventually } from '../support/eventually.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { forgetContents, LOWER, type Options, Process, ROWS, Table } from '../support/spelling-process.js';

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start(BF_ARGUMENTS ?? []);
});
afterAll(() => redis.close());

const KINDS: [string, (name: string) => Options][] = [
  ['one generation', () => ({ replica: 'off' })],
  ['one generation, with a copy of it', () => ({ replica: 'verified' })],
  ['one generation that is read with leases', () => ({ replica: 'leased', leaseMs: 150 })],
  ['partitions', () => ({ partitions: 3 })],
  ['the layout of go-zero', (name) => ({ layout: goZero({ key: `peers-${name}`, bits: 100_000 }) })],
  ...(BF_ARGUMENTS
    ? ([
        ['BF.* commands', () => ({ layout: redisBloom() })],
        ['the layout cuckoo', () => ({ layout: cuckoo() })],
      ] satisfies [string, () => Options][])
    : []),
];
if (!BF_ARGUMENTS) process.stderr.write(`\nFilters of BF.* and CF.* are left out. ${HOW_TO_HAVE_BF}\n`);

describe.each(KINDS)('A filter with a source, of %s', (_, optionsOf) => {
  const start = (name: string, table: Table, options: Options = {}) =>
    Process.start(redis, name, {
      ...optionsOf(name),
      source: table.source(),
      rebuild: { drainMs: 0 },
      ...options,
    });
  const partitions = Number(optionsOf('').partitions ?? 1);

  it('denies no row after a restart with another normalize, and answers again when it is rebuilt', async () => {
    const [name, table] = [redis.name(), new Table()];
    const before = await start(name, table);
    await before.filter.rebuild();
    expect(await before.verdicts(ROWS)).toEqual(['maybe']);
    await before.filter.close();

    const after = await start(name, table, { normalize: LOWER });
    expect(await after.verdicts(ROWS)).toEqual(['unknown']);
    expect(await after.look()).toBe('suspect');
    await after.filter.rebuild();
    expect(await after.verdicts(ROWS)).toEqual(['maybe']);
    expect(await after.verdicts(['row-17', 'ROW-17'])).toEqual(['maybe']);
    expect(await after.verdicts(['other-1', 'other-2'])).toEqual(['absent']);
    await after.filter.close();
  });

  it('denies nothing that processes of two spellings add in turns, and serves those that built it', async () => {
    const [name, table] = [redis.name(), new Table()];
    const both = [await start(name, table), await start(name, table, { normalize: LOWER })];
    for (let round = 0; round < 4; round++) {
      const [builder, other] = round % 2 === 0 ? both : both.toReversed();
      await builder!.filter.rebuild();
      expect(await builder!.verdicts(table.rows)).toEqual(['maybe']);
      expect(await builder!.verdicts(['none-1', 'none-2'])).toEqual(['absent']);
      expect(await other!.look()).toBe('suspect');
      expect(await other!.verdicts([...table.rows, 'none-1'])).toEqual(['unknown']);
      for (const [adder, id] of [
        [builder, `Of-Builder-${round}`],
        [other, `Of-Other-${round}`],
        [builder, `Again-${round}`],
      ] as const) {
        await adder!.filter.add(id);
        table.rows.push(id);
        for (const { filter } of both) {
          await filter.info();
          expect(await filter.checkMany(table.rows)).not.toContain('absent');
        }
      }
    }
    for (const { filter } of both) await filter.close();
  });

  it('ends a rebuild of another spelling when an id is added that it would lack', async () => {
    const [name, table] = [redis.name(), new Table()];
    const before = await start(name, table);
    await before.filter.rebuild();
    let release = () => {};
    const mayEnd = new Promise<void>((resolve) => (release = resolve));
    const after = await start(name, table, { normalize: LOWER, source: table.source(mayEnd) });
    const rebuilt = after.filter.rebuild().catch((error: unknown) => error);
    await eventually(
      'the rebuild has published its staging',
      async () => (await before.filter.info()).rebuilding,
    );

    await before.filter.add('Between');
    // A rebuild of partitions ends what is there of another spelling before it begins, since the same ids are
    // in other parts.
    const found = partitions > 1 ? ['unknown'] : ['maybe'];
    expect(await before.verdicts(['Between'])).toEqual(found);
    release();
    expect(await rebuilt).toBeInstanceOf(BloomRebuildError);
    expect(await before.verdicts([...ROWS, 'Between'])).toEqual(found);
    expect(await after.verdicts(['Between'])).toEqual(['unknown']);
    table.rows.push('Between');
    await after.filter.rebuild();
    expect(await after.verdicts([...ROWS, 'Between'])).toEqual(['maybe']);
    for (const { filter } of [before, after]) await filter.close();
  });

  it('denies no row of another table, and says which ones differ, once', async () => {
    const name = redis.name();
    const [products, items] = [new Table('products.id'), new Table('items.sku')];
    products.rows.push('of-products');
    const [before, after] = [await start(name, products), await start(name, items)];
    await before.filter.rebuild();
    await after.look();
    for (let look = 0; look < 3; look++) {
      expect(await after.verdicts(['of-products', 'of-nobody'])).toEqual(['unknown']);
      await after.look();
    }
    expect(after.reasons).toEqual(
      Array.from({ length: partitions }, () =>
        expect.stringMatching(
          /^suspect: This filter holds the ids of products\.id, and the source of this process reads items\.sku\. Lookups of this process go through\. The filter is rebuilt/,
        ),
      ),
    );
    await after.filter.add('of-items');
    expect(await before.filter.checkMany(['of-items', 'of-products'])).not.toContain('absent');
    items.rows.push('of-items');
    await after.filter.rebuild();
    expect(await after.verdicts(items.rows)).toEqual(['maybe']);
    for (const { filter } of [before, after]) await filter.close();
  });

  it('is used by processes whose source does not name its table', async () => {
    const name = redis.name();
    const named = await start(name, new Table('products.id'));
    await named.filter.rebuild();
    const unnamed = await start(name, new Table());
    expect(await unnamed.verdicts(ROWS)).toEqual(['maybe']);
    await unnamed.filter.add('added');
    expect(await named.verdicts([...ROWS, 'added'])).toEqual(['maybe']);
    await unnamed.filter.rebuild();
    expect(await named.verdicts(ROWS)).toEqual(['maybe']);
    for (const { filter } of [named, unnamed]) await filter.close();
  });

  it('that an older version built is not believed, and is rebuilt', async () => {
    const [name, table] = [redis.name(), new Table()];
    const before = await start(name, table);
    await before.filter.rebuild();
    await before.filter.close();
    await forgetContents(redis, name);

    const after = await start(name, table);
    expect(await after.verdicts(ROWS)).toEqual(['unknown']);
    expect(after.reasons[0]).toMatch(/^suspect: An older version of nestjs-bloom built this filter/);
    await after.filter.rebuild();
    expect(await after.verdicts(ROWS)).toEqual(['maybe']);
    await after.filter.close();
  });
});

describe('Processes of two spellings', () => {
  const start = (name: string, table: Table, options: Options = {}) =>
    Process.start(redis, name, { source: table.source(), rebuild: { drainMs: 0 }, ...options });

  it('rebuild the filter for themselves after pauses that they share', async () => {
    const [name, table] = [redis.name(), new Table()];
    const before = await start(name, table);
    await before.filter.rebuild();
    const after = await start(name, table, { normalize: LOWER });
    const recover = ({ filter }: Process): Promise<{ outcome: string; dueInMs?: number }> =>
      filter.rebuild({ occasion: { kind: 'recovery' } });
    const seconds: number[] = [];
    // The first one takes the filter at once: most often the others are about to end.
    expect(await recover(after)).toMatchObject({ outcome: 'published' });
    for (const builder of [before, after, before, after, before, after]) {
      await builder.look();
      const report = await recover(builder);
      expect(report).toMatchObject({ outcome: 'skipped' });
      seconds.push(Math.round(report.dueInMs! / 1000));
      const another = await recover(builder === before ? after : before);
      expect(another.dueInMs).toBeLessThanOrEqual(report.dueInMs!);
      await builder.filter.rebuild();
    }
    // The pause began when the build was seen.
    for (const [i, most] of [60, 120, 240, 480, 900, 900].entries()) {
      expect(seconds[i]).toBeLessThanOrEqual(most);
      expect(seconds[i]).toBeGreaterThan(most / 2);
    }
    for (const { filter } of [before, after]) await filter.close();
  });

  it('do not hold up the recovery of a filter of one spelling', async () => {
    const [name, table] = [redis.name(), new Table()];
    const first = await start(name, table, { normalize: LOWER });
    await first.filter.rebuild();
    const second = await start(name, table, { normalize: (id) => LOWER(id) });
    expect(await second.verdicts(ROWS)).toEqual(['maybe']);
    expect(second.reasons).toEqual([]);
    expect(await redis.client().hgetall(`bloom:{${name}}:builds`)).not.toHaveProperty('contested');
    for (const { filter } of [first, second]) await filter.close();
  });
});
