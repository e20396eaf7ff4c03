import { describe, expect, it } from '@jest/globals';
import { BloomFormatError } from 'nestjs-bloom/filter';
import { redisBloom, type RedisBloomChunk } from '../../src/index.js';
import { expectIdsOrRefused, expectReadOrRefused, readsOrRefuses } from './damage.js';

const MANY = Array.from({ length: 30 }, (_, i) => `id-${i}`);

describe('A dump of RedisBloom', () => {
  const filter = redisBloom.create({ capacity: 5, errorRate: 0.05 });
  for (const id of MANY) filter.add(id);
  const chunks = filter.write();
  const header = chunks[0]!.data;
  const withHeader = (change: (view: DataView, bytes: Uint8Array) => void): RedisBloomChunk[] => {
    const bytes = header.slice();
    change(new DataView(bytes.buffer), bytes);
    return [{ iterator: 1, data: bytes }, ...chunks.slice(1)];
  };

  it('with a chunk left out is refused, whichever it is', () => {
    for (let left = 0; left < chunks.length; left++) {
      expect(() => redisBloom.read(chunks.filter((_, i) => i !== left))).toThrow(BloomFormatError);
    }
    expect(() => redisBloom.read([])).toThrow(/Expected a RedisBloom dump with a header, got no chunks/);
  });

  it('with a chunk cut short is refused, wherever it is cut', () => {
    chunks.forEach(({ iterator, data }, index) => {
      for (let length = 0; length < data.length; length++) {
        const cut = chunks.with(index, { iterator, data: data.subarray(0, length) });
        expect(() => redisBloom.read(cut)).toThrow(BloomFormatError);
      }
    });
  });

  it('in other pieces, overlapping or in another order, is the same', () => {
    const [head, ...data] = chunks;
    const pieces = data.flatMap(({ iterator, data: bytes }) => [
      { iterator, data: bytes.subarray(1) },
      { iterator: iterator - bytes.length + 3, data: bytes.subarray(0, 3) },
    ]);
    expect(redisBloom.read([head!, ...pieces.reverse()]).write()).toEqual(chunks);
  });

  it.each<[string, (view: DataView, bytes: Uint8Array) => void, RegExp]>([
    ['links for 200 GB', (view) => view.setUint32(8, 0xffffffff, true), /bytes for 4294967295 links/],
    ['an option that no command sets', (view) => view.setUint32(12, 7, true), /options 5 or 13, got 7/],
    ['the 32-bit hash', (view) => view.setUint32(12, 1, true), /options 5 or 13, got 1/],
    ['a size of 2^64', (view) => view.setBigUint64(20, 2n ** 64n - 1n, true), /numbers below 2\^53/],
    [
      'bits that are not 8 times the bytes',
      (view) => view.setBigUint64(28, 63n, true),
      /8 times its bytes, got 63 bits/,
    ],
    [
      'no bits',
      (view) => (view.setBigUint64(20, 0n, true), view.setBigUint64(28, 0n, true)),
      /got 0 bits, 0 bytes/,
    ],
    ['an error rate of 1', (view) => view.setFloat64(44, 1, true), /error rate above 0 and below 1, got 1/],
    ['an error rate that is no number', (view) => view.setFloat64(44, NaN, true), /got NaN/],
    ['a hash count that does not suit', (view) => view.setUint32(60, 99, true), /hashes that suit/],
    [
      'a million hashes',
      (view) => (view.setFloat64(52, 1e6 / Math.LN2, true), view.setUint32(60, 1_000_000, true)),
      /1 to 1100 hashes/,
    ],
    ['links for no ids', (view) => view.setBigUint64(64, 0n, true), /for at least one id, got 0/],
    ['a power of two that is not its size', (_, bytes) => (bytes[72] = 5), /a link of 2\^5 bits, got 64/],
    [
      'more ids than its links',
      (view) => view.setBigUint64(0, 31n, true),
      /as many ids as its links have, 30, got 31/,
    ],
  ])('with %s is refused', (_, change, message) => {
    expect(() => redisBloom.read(withHeader(change))).toThrow(BloomFormatError);
    expect(() => redisBloom.read(withHeader(change))).toThrow(message);
  });

  it('whose header claims 8 PB is refused for the bytes that are missing', () => {
    const claims = withHeader((view) => {
      view.setBigUint64(20, 2n ** 50n - 1n, true);
      view.setBigUint64(28, 8n * (2n ** 50n - 1n), true);
    });
    readsOrRefuses(() => redisBloom.read(claims));
    expect(() => redisBloom.read(claims)).toThrow(/Expected a RedisBloom dump with/);
  });

  const dump = { chunks, read: (any: readonly RedisBloomChunk[]) => redisBloom.read(any) };

  it('with any damage is read or refused, without the memory that it claims', () =>
    expectReadOrRefused(dump));

  it('that was damaged never denies its ids without being refused, unless its bits were damaged', () => {
    expectIdsOrRefused(dump, { ids: MANY, headBytes: 20 });
  });
});
