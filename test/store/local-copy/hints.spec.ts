import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BLOCK_BYTES } from '../../../src/filter/index.js';
import type { BlockListener, StoredFilter } from '../../../src/store/index.js';
import { CopiedFilter } from '../../../src/store/local-copy/copied-filter.js';
import { CopyBudget } from '../../../src/store/local-copy/copy-budget.js';
import { LocalCopyStore } from '../../../src/store/local-copy/index.js';
import { idsOf } from '../../support/built-filter.js';
import { CopyableOriginal } from '../../support/copyable-original.js';
import { openOptions } from '../../support/open-options.js';

const IDS = idsOf('id', 200);
const NEXT = idsOf('next', 200);
let original: CopyableOriginal;
const opened: StoredFilter[] = [];

function open(store: LocalCopyStore, name = 'products'): StoredFilter {
  const filter = store.open(openOptions({ name, emit: () => {} }));
  opened.push(filter);
  return filter;
}

beforeEach(() => {
  jest.useFakeTimers();
  original = new CopyableOriginal();
  original.swap(IDS);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((filter) => filter.close()));
  jest.useRealTimers();
});

async function load(filter: StoredFilter): Promise<void> {
  await filter.check(['id-0']);
  await original.answerAll();
}

const known = (filter: StoredFilter, ids: readonly string[]) =>
  ids.filter((id) => filter.hasHint!(id)).length;

describe('Hints of a copy', () => {
  it('are there when it is whole, and before that there are none', async () => {
    const filter = open(new LocalCopyStore(original));
    expect(filter.hasHint!('id-1')).toBe(false);
    await filter.check(['id-0']);
    expect(filter.hasHint!('id-1')).toBe(false);
    await original.answerAll();
    expect(known(filter, IDS)).toBe(200);
    expect(known(filter, NEXT)).toBeLessThan(20);
  });

  it('stay when the filter is lost, is not trusted, and when it is replaced until the next copy is whole', async () => {
    const filter = open(new LocalCopyStore(original));
    await load(filter);
    const { live } = original;
    original.live = undefined;
    await filter.describe();
    expect(known(filter, IDS)).toBe(200);
    expect(await filter.check(['id-1'])).toEqual(['unknown']);
    original.live = live;
    await load(filter);
    await filter.distrust('a row was denied');
    expect(known(filter, IDS)).toBe(200);
    original.swap(NEXT);
    await filter.check(['next-0']);
    expect(known(filter, IDS)).toBe(200);
    await original.answerAll();
    expect(known(filter, NEXT)).toBe(200);
    expect(known(filter, IDS)).toBeLessThan(20);
  });

  it('stay when the next copy cannot be loaded', async () => {
    const filter = open(new LocalCopyStore(original));
    await load(filter);
    original.swap(NEXT);
    await filter.check(['next-0']);
    original.pieces.shift()!.answer(new Error('no connection'));
    await original.answerAll();
    expect(known(filter, IDS)).toBe(200);
  });

  it('give way to a copy that answers, and only to one that needs their memory', async () => {
    const maxBytes = 2 * original.live!.generation.blocks * BLOCK_BYTES;
    const budget = new CopyBudget({ bytesPerSecond: Infinity, maxBytes });
    const copied = ['a', 'b', 'c'].map((name) => {
      const its = new CopyableOriginal();
      its.swap(IDS);
      const open = (onBlocks: BlockListener) => its.openCopyable({ onBlocks });
      const filter = new CopiedFilter({ ...openOptions({ name, emit: () => {} }), maxBytes, budget, open });
      opened.push(filter);
      const loadIt = async () => {
        await filter.check(['id-0']);
        await its.answerAll();
      };
      return { filter, its, load: loadIt };
    });
    const [first, second, third] = copied as [(typeof copied)[0], (typeof copied)[0], (typeof copied)[0]];
    const hints = () => copied.map(({ filter }) => known(filter, IDS));
    await first.load();
    first.its.live = undefined;
    await first.filter.describe();
    await second.load();
    expect(hints()).toEqual([200, 200, 0]);
    await third.load();
    expect(hints()).toEqual([0, 200, 200]);
    first.its.swap(IDS);
    await first.load();
    expect(hints()).toEqual([0, 200, 200]);
    await second.filter.close();
    await first.load();
    expect(hints()).toEqual([200, 0, 200]);
  });

  it('are not given up for a copy for which there would be no room all the same', () => {
    const budget = new CopyBudget({ bytesPerSecond: Infinity, maxBytes: 100 });
    const dropped: string[] = [];
    const spare = (name: string, bytes: number) => {
      expect(budget.claim(bytes)).toBe(true);
      const owner = {};
      budget.spareIs(owner, bytes, () => {
        budget.noSpare(owner);
        budget.release(bytes);
        dropped.push(name);
      });
    };
    expect(budget.claim(50)).toBe(true);
    spare('first', 20);
    spare('second', 20);
    expect(budget.claim(51)).toBe(false);
    expect(dropped).toEqual([]);
    expect(budget.claim(25)).toBe(true);
    expect(dropped).toEqual(['first']);
    expect(budget.claim(25)).toBe(true);
    expect(dropped).toEqual(['first', 'second']);
    expect(budget.claim(1)).toBe(false);
  });
});
