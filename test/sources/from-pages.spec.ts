import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { fromPages } from '../../src/index.js';
import type { BloomId } from '../../src/filter/index.js';
import type { BloomIdsContext, BloomIdSource } from '../../src/rebuild/index.js';

const ROWS = Array.from({ length: 25 }, (_, i) => ({ no: i + 1, sku: `sku-${i + 1}` }));
const SKUS = ROWS.map(({ sku }) => sku);

function rowsAfter(after: { no: number } | undefined, take: number) {
  return ROWS.filter(({ no }) => no > (after?.no ?? 0)).slice(0, take);
}

async function read(source: BloomIdSource, context: Partial<BloomIdsContext> = {}): Promise<BloomId[]> {
  const ids: BloomId[] = [];
  for await (const page of source.ids({ signal: new AbortController().signal, ...context }))
    ids.push(...(page as BloomId[]));
  return ids;
}

describe('fromPages', () => {
  it.each([1, 5, 7, 25, 26])('reads all rows in pages of %i', async (take) => {
    const source = fromPages<{ no: number; sku: string }>((after, page) => rowsAfter(after, page.take), {
      key: 'sku',
      take,
    });
    expect(await read(source)).toEqual(SKUS);
  });

  it('reads ids that are rows themselves, and takes a function for the id', async () => {
    const ids = fromPages<number>(
      (after = 0, { take }) => rowsAfter({ no: after }, take).map(({ no }) => no),
      {
        take: 4,
      },
    );
    expect(await read(ids)).toEqual(ROWS.map(({ no }) => no));
    const made = fromPages<{ no: number }>((after, { take }) => rowsAfter(after, take), {
      key: ({ no }) => `${no}-eu`,
    });
    expect(await read(made)).toContain('25-eu');
  });

  it('leaves out rows without an id, also a whole page of them', async () => {
    const source = fromPages<{ no: number; sku: string | null }>(
      (after, { take }) => rowsAfter(after, take).map(({ no, sku }) => ({ no, sku: no < 11 ? null : sku })),
      { key: 'sku', take: 5 },
    );
    expect(await read(source)).toEqual(SKUS.slice(10));
  });

  it('reads a page again that failed, reports that, and reads on', async () => {
    let calls = 0;
    const errors: unknown[] = [];
    const source = fromPages<{ no: number; sku: string }>(
      (after, { take }) => {
        if (++calls % 2 === 0) throw new Error('connection lost');
        return rowsAfter(after, take);
      },
      { key: 'sku', take: 5, retryMs: 1 },
    );
    expect(await read(source, { onRetry: (error) => errors.push(error) })).toEqual(SKUS);
    expect(errors).toHaveLength(Math.floor(calls / 2));
    expect(errors[0]).toEqual(new Error('connection lost'));
  });

  it('fails when a page fails too often, with what happened and how far it was', async () => {
    let calls = 0;
    const source = fromPages<{ no: number; sku: string }>(
      (after, { take }) => {
        calls++;
        if (after) throw new Error('connection lost');
        return rowsAfter(after, take);
      },
      { key: 'sku', take: 5, retries: 2, retryMs: 1 },
    );
    await expect(read(source)).rejects.toThrow(
      'A page of the source failed 3 times in a row, after 5 rows. connection lost',
    );
    expect(calls).toBe(4);
  });

  it.each<[string, (after: unknown, take: number) => unknown, RegExp]>([
    [
      'returns the same page again',
      (_, take) => rowsAfter(undefined, take),
      /ends with the same row, after 5 rows/,
    ],
    ['returns more rows than asked for', () => rowsAfter(undefined, 6), /at most 5 rows, got 6/],
    ['returns no array', () => ({ rows: [] }), /to be an array of rows, got object/],
  ])('fails when the function %s', async (_, page, message) => {
    const source = fromPages<{ no: number; sku: string }>(
      (after, { take }) => page(after, take) as { no: number; sku: string }[],
      { key: 'sku', take: 5, retries: 0 },
    );
    await expect(read(source)).rejects.toThrow(message);
  });

  it('stops waiting, between retries as well, when the run is told to stop', async () => {
    const run = new AbortController();
    const source = fromPages<number>(
      () => {
        run.abort(new Error('told to stop'));
        throw new Error('connection lost');
      },
      { retryMs: 60_000 },
    );
    await expect(read(source, { signal: run.signal })).rejects.toThrow('told to stop');
  });

  it('aborts the page that is read ahead when nobody reads on', async () => {
    const signals: AbortSignal[] = [];
    const source = fromPages<{ no: number; sku: string }>(
      (after, { take, signal }) => {
        signals.push(signal);
        return rowsAfter(after, take);
      },
      { key: 'sku', take: 5 },
    );
    for await (const page of source.ids({ signal: new AbortController().signal })) {
      expect(page).toEqual(SKUS.slice(0, 5));
      break;
    }
    expect(signals).toHaveLength(2);
    expect(signals[1]!.aborted).toBe(true);
  });

  it('lets a failure of the page that is read ahead wait until it is needed', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    const source = fromPages<{ no: number; sku: string }>(
      (after, { take }) => {
        if (after) throw new Error('connection lost');
        return rowsAfter(after, take);
      },
      { key: 'sku', take: 5, retries: 0 },
    );
    const pages = source.ids({ signal: new AbortController().signal })[Symbol.asyncIterator]();
    expect((await pages.next()).value).toEqual(SKUS.slice(0, 5));
    await delay(20);
    await expect(pages.next()).rejects.toThrow('connection lost');
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it.each([{ take: 0 }, { take: 1.5 }, { retries: -1 }, { retryMs: 1e9 }])('refuses %o', (options) => {
    expect(() => fromPages<number>(() => [], options)).toThrow(
      /fromPages: expected \w+ to be an integer from/,
    );
  });

  it('wants a key of rows that are no ids', () => {
    // @ts-expect-error the option key is missing
    fromPages<{ sku: string }>(() => []);
    // @ts-expect-error a Date is no id
    fromPages<{ at: Date }>(() => [], { key: 'at' });
    // @ts-expect-error there is no such property
    fromPages<{ sku: string }>(() => [], { key: 'skuu' });
    expect(fromPages<{ sku: string | null }>(() => [], { key: 'sku' }).count).toBeUndefined();
  });
});
