import { expect } from '@jest/globals';
import fc from 'fast-check';
import { BloomFormatError } from '../../../src/filter/index.js';

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
