import type { BloomId } from '../filter/index.js';
import type { BloomRebuildOptions } from '../rebuild/index.js';
import { type BloomBatchOptions, BloomFilter } from '../service/index.js';

/**
 * What a test injects for a filter: the filter itself is looked up when it is used, since a module may
 * register it later.
 */
export class DeferredFilter extends BloomFilter {
  constructor(
    readonly name: string,
    private readonly find: () => BloomFilter,
  ) {
    super();
  }

  get guarding(): BloomFilter['guarding'] {
    return this.find().guarding;
  }

  check(id: BloomId) {
    return this.find().check(id);
  }

  checkMany(ids: readonly BloomId[]) {
    return this.find().checkMany(ids);
  }

  mightContain(id: BloomId) {
    return this.find().mightContain(id);
  }

  mightContainMany(ids: readonly BloomId[]) {
    return this.find().mightContainMany(ids);
  }

  guardBatch<Id extends BloomId, Row>(
    load: (ids: Id[]) => Promise<readonly Row[]>,
    options?: BloomBatchOptions<Row>,
  ): (ids: readonly Id[]) => Promise<(Row | null)[]> {
    return (ids) => this.find().guardBatch(load, options)(ids);
  }

  add(id: BloomId) {
    return this.find().add(id);
  }

  addMany(ids: readonly BloomId[]) {
    return this.find().addMany(ids);
  }

  remove(id: BloomId) {
    return this.find().remove(id);
  }

  rebuild(options?: BloomRebuildOptions) {
    return this.find().rebuild(options);
  }

  reset() {
    return this.find().reset();
  }

  adopt() {
    return this.find().adopt();
  }

  info() {
    return this.find().info();
  }
}
