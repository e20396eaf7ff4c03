import { expect } from '@jest/globals';
import fc from 'fast-check';
import { BloomFormatError } from 'nestjs-bloom/filter';
import type { RedisBloomChunk } from '../../src/index.js';

/** What must hold of any input: read, or refused with a reason; at once, and without much memory. */
export function readsOrRefuses(read: () => { mightContain(id: string): boolean }): void {
  const before = process.memoryUsage();
  try {
    read().mightContain('x');
  } catch (error) {
    expect(error).toBeInstanceOf(BloomFormatError);
    expect((error as Error).message).toMatch(/^Expected .*, got .*\. [A-Z]/s);
  }
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(2 ** 20);
}

/** Bytes with some of them changed, and perhaps cut short or made longer. */
export function damaged(bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  const change = fc.tuple(
    fc.nat(Math.max(0, bytes.length - 1)),
    fc.oneof(fc.nat(255), fc.constantFrom(0, 0xff, 0x7f)),
  );
  return fc
    .tuple(fc.array(change, { maxLength: 6 }), fc.oneof(fc.constant(bytes.length), fc.nat(bytes.length + 20)))
    .map(([changes, length]) => {
      const copy = new Uint8Array(Math.max(length, bytes.length));
      copy.set(bytes);
      for (const [at, byte] of changes) copy[at] = byte;
      return copy.slice(0, length);
    });
}

/** A dump in chunks, of which the first is a header, and how it is read. */
export interface ChunkedDump {
  readonly chunks: readonly RedisBloomChunk[];
  read(chunks: readonly RedisBloomChunk[]): { mightContain(id: string): boolean };
}

/** Any damage to the chunks, their order and their number, is read or refused. */
export function expectReadOrRefused({ chunks, read }: ChunkedDump): void {
  const anyChunk = fc.record({
    iterator: fc.oneof(fc.integer({ min: -2, max: 300 }), fc.constantFrom(NaN, 1.5, Infinity, 2 ** 53)),
    data: fc.uint8Array({ maxLength: 100 }),
  });
  const some = fc.oneof(
    damaged(chunks[0]!.data).map((data) => chunks.with(0, { iterator: 1, data })),
    fc.array(fc.oneof(fc.constantFrom(...chunks), anyChunk), { maxLength: 8 }),
    fc.array(anyChunk, { maxLength: 4 }).map((more) => [...chunks, ...more]),
  );
  fc.assert(
    fc.property(some, (any) => readsOrRefuses(() => read(any))),
    { numRuns: 2_000 },
  );
}

/** Whatever was changed in the first bytes of the header: the dump is refused, or has its ids. */
export function expectIdsOrRefused(
  { chunks, read }: ChunkedDump,
  { ids, headBytes }: { ids: readonly string[]; headBytes: number },
): void {
  const header = chunks[0]!.data;
  fc.assert(
    fc.property(damaged(header.subarray(0, headBytes)), (head) => {
      const data = Uint8Array.of(...head, ...header.subarray(headBytes));
      let filter;
      try {
        filter = read(chunks.with(0, { iterator: 1, data }));
      } catch (error) {
        expect(error).toBeInstanceOf(BloomFormatError);
        return;
      }
      for (const id of ids) expect(filter.mightContain(id)).toBe(true);
    }),
    { numRuns: 500 },
  );
}
