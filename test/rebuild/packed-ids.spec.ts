import { describe, expect, it } from '@jest/globals';
import { BloomIdError } from '../../src/common/index.js';
import {
  BlockedFilter,
  type BloomId,
  createGeneration,
  HalfSipHash,
  planFilter,
} from '../../src/filter/index.js';
import { type BloomIdSource, packableIds, type PackedIds } from '../../src/rebuild/index.js';
import { scanSource } from '../../src/rebuild/scan.js';
import { StallTimer } from '../../src/rebuild/stall-timer.js';
import { LEASE_MS } from '../support/built-filter.js';
import { rebuildJob } from '../support/rebuild-job.js';

const TEXTS = ['1', 'zwölf', '😀', 'a'.repeat(64), '-9223372036854775808'];
const trimmed = (id: BloomId) => (typeof id === 'string' ? id.trim() : id);

function packed(texts: readonly string[]): PackedIds {
  const ids = texts.map((text) => Buffer.from(text));
  let end = 0;
  const ends = Uint32Array.from(ids, (id) => (end += id.length));
  return { bytes: new Uint8Array(Buffer.concat(ids)), ends, count: ids.length, areText: true };
}

function sourceOf(texts: readonly string[], normalize?: (id: BloomId) => BloomId) {
  const source = {
    readings: 0,
    ids: () =>
      packableIds(async function* () {
        source.readings++;
        yield packed(texts);
      }, normalize),
  };
  return source satisfies BloomIdSource;
}

async function scan(source: BloomIdSource, options: { normalize?: typeof trimmed; onBadId?: 'skip' } = {}) {
  const filter = new BlockedFilter(createGeneration(planFilter({ capacity: 100, errorRate: 1e-6 }), 64));
  const added = { keys: 0, bytes: 0 };
  const job = rebuildJob({} as never, source);
  const watch = new StallTimer(new AbortController().signal, LEASE_MS);
  const result = await scanSource({
    ...job,
    toKey: (id) => job.toKey(options.normalize ? options.normalize(id as BloomId) : id),
    spellsAs: (normalize) => normalize === options.normalize,
    ...(options.onBadId && { onBadId: options.onBadId }),
    filter: {
      addKey: (key) => (added.keys++, filter.addKey(key)),
      addBytes: (bytes, start, end) => (added.bytes++, filter.addBytes(bytes, start, end)),
    },
    capacity: 100,
    watch,
    onRead: () => {},
  }).finally(() => watch.close());
  return { result, filter, added };
}

describe('ids that are packed', () => {
  it('are hashed as their texts are', () => {
    const hash = new HalfSipHash(0x01020304, 0x05060708);
    for (let length = 0; length < 70; length++) {
      const text = Array.from({ length }, (_, i) => String.fromCharCode(33 + ((i * 7) % 90))).join('');
      hash.hash(text);
      const expected = [hash.first, hash.last];
      const bytes = Buffer.from(`xyz${text}z`);
      hash.hashBytes(bytes, 3, 3 + length);
      expect([hash.first, hash.last]).toEqual(expected);
      hash.hash(bytes.subarray(3, 3 + length));
      expect([hash.first, hash.last]).toEqual(expected);
    }
  });

  it('are added without a text for each of them', async () => {
    const { result, filter, added } = await scan(sourceOf([...TEXTS, '1']));
    expect(result).toMatchObject({ idsRead: 6, distinctIds: 5, overflow: undefined, bad: undefined });
    expect(result.sample.map((key) => Buffer.from(key).toString())).toEqual([...TEXTS, '1']);
    expect(added).toEqual({ keys: 0, bytes: 6 });
    expect(TEXTS.map((id) => filter.mightContain(id))).toEqual(TEXTS.map(() => true));
    expect(filter.mightContain('absent')).toBe(false);
  });

  it('are added when the filter spells ids as the source does', async () => {
    const { added, filter } = await scan(sourceOf(TEXTS, trimmed), { normalize: trimmed });
    expect([added.bytes, filter.mightContain('zwölf')]).toEqual([5, true]);
  });

  it('are unpacked for a filter that spells them in its own way, and for one that spells them in none', async () => {
    const own = await scan(
      sourceOf([' a '], (id) => id),
      { normalize: trimmed },
    );
    expect([own.added, own.filter.mightContain('a')]).toEqual([{ keys: 1, bytes: 0 }, true]);
    const none = await scan(sourceOf([' a '], trimmed));
    expect([none.added, none.filter.mightContain(' a ')]).toEqual([{ keys: 1, bytes: 0 }, true]);
  });

  it('do not pass by whoever reads them in a source of his own', async () => {
    const inner = sourceOf(['1', '2']);
    const { filter, result } = await scan({
      ...inner,
      async *ids() {
        yield* inner.ids();
        yield 'three';
      },
    });
    expect([result.distinctIds, filter.mightContain('three')]).toEqual([3, true]);
  });

  it.each([
    ['an empty one', ''],
    ['one that is too long', 'x'.repeat(65)],
  ])('fail the run for %s, or leave it out', async (_, bad) => {
    await expect(scan(sourceOf(['1', bad, '2']))).rejects.toThrow('The source returned');
    const { result, filter } = await scan(sourceOf(['1', bad, '2']), { onBadId: 'skip' });
    expect(result).toMatchObject({ idsRead: 3, distinctIds: 2, bad: { skipped: 1 } });
    expect(result.bad!.error).toBeInstanceOf(BloomIdError);
    expect([filter.mightContain('1'), filter.mightContain('2')]).toEqual([true, true]);
  });
});
