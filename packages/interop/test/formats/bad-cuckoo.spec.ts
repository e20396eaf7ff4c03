import { describe, expect, it } from '@jest/globals';
import { BloomFormatError } from 'nestjs-bloom/filter';
import { cuckoo, type RedisBloomChunk } from '../../src/index.js';
import { expectIdsOrRefused, expectReadOrRefused, readsOrRefuses } from './damage.js';

const MANY = Array.from({ length: 40 }, (_, i) => `id-${i}`);

describe("A cuckoo filter's dump", () => {
  const filter = cuckoo.create({ capacity: 16, expansion: 2 });
  for (const id of MANY) filter.add(id);
  const chunks = filter.write();
  const header = chunks[0]!.data;
  const withHeader = (change: (view: DataView) => void): RedisBloomChunk[] => {
    const bytes = header.slice();
    change(new DataView(bytes.buffer));
    return [{ iterator: 1, data: bytes }, ...chunks.slice(1)];
  };

  it('with a chunk left out is refused, whichever it is', () => {
    expect(chunks.length).toBeGreaterThan(2);
    for (let left = 0; left < chunks.length; left++) {
      expect(() => cuckoo.read(chunks.filter((_, i) => i !== left))).toThrow(BloomFormatError);
    }
  });

  it('without chunks is refused: nobody knows what an empty filter was made for', () => {
    expect(() => cuckoo.read([])).toThrow(/Expected a cuckoo filter's dump with a header, got no chunks/);
    expect(() => cuckoo.read([{ iterator: 0, data: null }])).toThrow(/as CF.SCANDUMP replies for an empty/);
  });

  it('with a chunk cut short is refused, wherever it is cut', () => {
    chunks.forEach(({ iterator, data }, index) => {
      for (let length = 0; length < data.length; length++) {
        const cut = chunks.with(index, { iterator, data: data.subarray(0, length) });
        expect(() => cuckoo.read(cut)).toThrow(BloomFormatError);
      }
    });
  });

  it('in other pieces, overlapping or in another order, is the same', () => {
    const [head, ...data] = chunks;
    const pieces = data.flatMap(({ iterator, data: bytes }) => [
      { iterator, data: bytes.subarray(1) },
      { iterator: iterator - bytes.length + 3, data: bytes.subarray(0, 3) },
    ]);
    expect(cuckoo.read([head!, ...pieces.reverse(), { iterator: 0, data: null }]).write()).toEqual(chunks);
  });

  it('of an empty filter is read', () => {
    const empty = cuckoo.create({ capacity: 64, bucketSize: 4, maxIterations: 7 });
    expect(cuckoo.read(empty.write()).describe()).toEqual(empty.describe());
  });

  it.each<[string, (view: DataView) => void, RegExp]>([
    ['a bucket size of 0', (view) => view.setUint16(32, 0, true), /a bucket size of 1 to 255, got 0/],
    ['a bucket size of 256', (view) => view.setUint16(32, 256, true), /got 256/],
    ['no iterations', (view) => view.setUint16(34, 0, true), /at least one iteration, got 0/],
    ['an expansion of 3', (view) => view.setUint16(36, 3, true), /power of two as its expansion, got 3/],
    ['tables though it does not grow', (view) => view.setUint16(36, 0, true), /one table, .* got [23]/],
    ['no tables', (view) => view.setBigUint64(24, 0n, true), /1 to 65535 tables, got 0/],
    ['2^64 tables', (view) => view.setBigUint64(24, 2n ** 64n - 1n, true), /1 to 65535 tables/],
    [
      'buckets that are no power of two',
      (view) => view.setBigUint64(8, 7n, true),
      /number of buckets, got 7/,
    ],
    ['no buckets', (view) => view.setBigUint64(8, 0n, true), /number of buckets, got 0/],
    [
      'buckets for 8 EB',
      (view) => view.setBigUint64(8, 2n ** 63n, true),
      /tables of at most 4294967296 bytes/,
    ],
    [
      'a last table that is too large',
      (view) => (view.setUint16(36, 32_768, true), view.setBigUint64(24, 9n, true)),
      /9 tables from 8 buckets of 2 on, each 32768 times the last/,
    ],
    [
      'more ids than slots',
      (view) => view.setBigUint64(0, 10_000n, true),
      /an id for each of its \d+ slots, got 10000/,
    ],
    ['2^60 removals', (view) => view.setBigUint64(16, 2n ** 60n, true), /less than 2\^53 removals/],
  ])('with %s is refused', (_, change, message) => {
    expect(() => cuckoo.read(withHeader(change))).toThrow(BloomFormatError);
    expect(() => cuckoo.read(withHeader(change))).toThrow(message);
  });

  it('whose header claims 4 GiB is refused for the bytes that are missing', () => {
    const claims = withHeader((view) => {
      view.setBigUint64(8, 2n ** 31n, true);
      view.setBigUint64(24, 1n, true);
    });
    readsOrRefuses(() => cuckoo.read(claims));
    expect(() => cuckoo.read(claims)).toThrow(
      /Expected a cuckoo filter's dump with 4294967296 bytes of table 0/,
    );
  });

  it('of different moments is refused: a fingerprint may have moved past it', () => {
    const later = cuckoo.read(chunks);
    later.remove(MANY[3]!);
    const mixed = [chunks[0]!, ...later.write().slice(1)];
    expect(() => cuckoo.read(mixed)).toThrow(/40 fingerprints, as its header says, got 39/);
  });

  const dump = { chunks, read: (any: readonly RedisBloomChunk[]) => cuckoo.read(any) };

  it('with any damage is read or refused, without the memory that it claims', () =>
    expectReadOrRefused(dump));

  it('whose counts were damaged never denies its ids without being refused', () => {
    expectIdsOrRefused(dump, { ids: MANY, headBytes: 32 });
  });
});
