import type { IdKey } from 'nestjs-bloom/filter';

const PAGE_BYTES = 1 << 20;

/** Ids in the order they came, in little more memory than their bytes. */
export class IdLog {
  private readonly pages: { readonly bytes: Buffer; used: number }[] = [];
  /** Size of the ids of each page, in bytes. */
  private readonly lengths: number[][] = [];

  append(id: IdKey): void {
    const bytes = typeof id === 'string' ? Buffer.from(id) : id;
    let page = this.pages.at(-1);
    if (page === undefined || page.used + bytes.length > page.bytes.length) {
      page = { bytes: Buffer.allocUnsafe(Math.max(PAGE_BYTES, bytes.length)), used: 0 };
      this.pages.push(page);
      this.lengths.push([]);
    }
    page.bytes.set(bytes, page.used);
    page.used += bytes.length;
    this.lengths.at(-1)!.push(bytes.length);
  }

  /** All ids, in lists of at most `count`. */
  *batches(count: number): Generator<Buffer[]> {
    for (const [number, { bytes }] of this.pages.entries()) {
      let batch: Buffer[] = [];
      let at = 0;
      for (const length of this.lengths[number]!) {
        batch.push(bytes.subarray(at, at + length));
        at += length;
        if (batch.length === count) {
          yield batch;
          batch = [];
        }
      }
      if (batch.length > 0) yield batch;
    }
  }
}
