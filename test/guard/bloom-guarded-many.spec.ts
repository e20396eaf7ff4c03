import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type BloomEvent,
  type BloomFilter,
  BloomGuardedMany,
  BloomModule,
  BloomService,
  lowerCase,
} from '../../src/index.js';
import { startContext } from '../support/nest-app.js';

interface Row {
  readonly sku: string;
}

let asked: unknown[][];
let rows: Row[];

@Injectable()
class Repository {
  readonly field = 'sku';

  @BloomGuardedMany('products', {
    key(this: Repository, row: Row) {
      return row[this.field as 'sku'];
    },
  })
  async findMany(skus: readonly string[], _page?: number): Promise<(Row | null)[]> {
    asked.push([...skus]);
    return this.matching(skus);
  }

  @BloomGuardedMany('products')
  async findAll(skus: string[]): Promise<Row[]> {
    asked.push([...skus]);
    return this.matching([skus].flat());
  }

  /** As `WHERE sku IN (…)` does: in the order of the table, each row once. */
  private matching(skus: readonly string[]): Row[] {
    return rows.filter(({ sku }) => skus.some((one) => String(one).toLowerCase() === sku));
  }
}

let context: Awaited<ReturnType<typeof startContext>>;
let filter: BloomFilter;
let repository: Repository;
let events: BloomEvent[];

beforeEach(async () => {
  asked = [];
  events = [];
  rows = ['c', 'a', 'b', 'late'].map((sku) => ({ sku }));
  context = await startContext({
    imports: [
      BloomModule.forRoot({
        filters: [
          {
            name: 'products',
            capacity: 1000,
            errorRate: 1e-6,
            create: 'first-start',
            normalize: lowerCase,
            audit: false,
          },
        ],
        onEvent: (event) => events.push(event),
      }),
    ],
    providers: [Repository],
  });
  filter = context.get(BloomService).filter('products');
  repository = context.get(Repository);
  await filter.addMany(['a', 'b', 'c', 'fp']);
  events.length = 0;
});
afterEach(() => context.close());

const row = (sku: string) => ({ sku });

describe('A guard of many ids', () => {
  it('calls the method with the ids that may exist, and restores order and gaps', async () => {
    expect(await repository.findMany(['none', 'B', 'a', 'fp', 'b', 'nothing'], 1)).toEqual([
      null,
      row('b'),
      row('a'),
      null,
      row('b'),
      null,
    ]);
    expect(asked).toEqual([['B', 'a', 'fp', 'b']]);
    expect(filter.guarding.counts()).toMatchObject({ absent: 2, maybe: 4, foundNothing: 1 });
  });

  it('does not call the method where no id may exist', async () => {
    expect(await repository.findMany(['x', 'y'])).toEqual([null, null]);
    expect(await repository.findAll(['x', 'y'])).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('answers without a key what the method returned', async () => {
    expect(await repository.findAll(['b', 'x', 'c'])).toEqual([row('c'), row('b')]);
    expect(asked).toEqual([['b', 'c']]);
  });

  it('lets everything pass where it is off or only observes, in the same order', async () => {
    for (const mode of ['off', 'shadow'] as const) {
      filter.guarding.mode = mode;
      expect(await repository.findMany(['none', 'late', 'a'])).toEqual([null, row('late'), row('a')]);
    }
    expect(asked).toEqual([
      ['none', 'late', 'a'],
      ['none', 'late', 'a'],
    ]);
    expect(filter.guarding.counts()).toMatchObject({ absent: 2, wrongAbsents: 1 });
    expect(events[0]).toMatchObject({ type: 'wrong-absent', id: 'late', method: 'Repository.findMany' });
  });

  it('leaves to the method what cannot be an id, and reports it', async () => {
    expect(await repository.findMany(['', 'a', undefined as never])).toEqual([null, row('a'), null]);
    expect(asked).toEqual([['', 'a', undefined]]);
    expect(events.map(({ type }) => type)).toEqual(['invalid-id', 'invalid-id']);
    expect(filter.guarding.counts()).toMatchObject({ invalid: 2 });
    asked = [];
    expect(await repository.findAll('a' as never)).toEqual([row('a')]);
    expect(events.at(-1)).toMatchObject({ type: 'invalid-id', method: 'Repository.findAll' });
  });

  it('reports rows whose key is no id that it asked for', async () => {
    const load = filter.guardBatch(async () => [{ sku: 'other' }, { sku: 'a' }], {
      key: (found) => found.sku,
    });
    expect(await load(['a'])).toEqual([row('a')]);
    expect(events).toEqual([expect.objectContaining({ type: 'guard-error', operation: 'key' })]);
  });
});

describe('A guarded batch', () => {
  it('keeps the places of what a batch function returns, errors of single ids too', async () => {
    const failed = new Error('one');
    const load = filter.guardBatch(async (ids: string[]) => ids.map((id) => (id === 'b' ? failed : row(id))));
    expect(await load(['x', 'a', 'b', 'y'])).toEqual([null, row('a'), failed, null]);
    const short = filter.guardBatch(async () => [] as Row[]);
    await expect(short(['a', 'b'])).rejects.toThrow(
      /for each id of a call, in their order, got 0 rows for 2 ids/,
    );
    await expect(filter.guardBatch(async () => Promise.reject(failed))(['a'])).rejects.toBe(failed);
  });
});
