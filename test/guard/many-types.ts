import { BloomGuardedMany } from '../../src/index.js';
import type { BloomId } from '../../src/filter/index.js';
import type { Anything } from './support/anything.js';

/**
 * Never run: `npm run typecheck` fails when a line does not compile, or when one below an expectation does.
 */
export abstract class ManyTypes<Id extends BloomId, Row extends { id: string }> {
  @BloomGuardedMany('products')
  async found(_ids: readonly Id[], _page: number): Promise<Row[]> {
    return [];
  }

  @BloomGuardedMany('products', { key: (row: { id: string }) => row.id })
  async inOrder(_ids: Id[]): Promise<readonly (Row | null)[]> {
    return [];
  }

  @BloomGuardedMany('products', { key: (row) => row.id })
  async anything(_ids: Anything): Promise<Anything[]> {
    return [];
  }

  // @ts-expect-error A single id.
  @BloomGuardedMany('products')
  async one(_id: string): Promise<string[]> {
    return [];
  }

  // @ts-expect-error
  @BloomGuardedMany('products')
  async objects(_rows: { id: string }[]): Promise<string[]> {
    return [];
  }

  // @ts-expect-error
  @BloomGuardedMany('products')
  async noList(_ids: string[]): Promise<string> {
    return '';
  }

  // @ts-expect-error Its gaps would shift.
  @BloomGuardedMany('products')
  async gaps(_ids: string[]): Promise<(string | null)[]> {
    return [];
  }

  // @ts-expect-error The answer has null.
  @BloomGuardedMany('products', { key: (row: { sku: string }) => row.sku })
  async noGaps(_ids: string[]): Promise<{ sku: string }[]> {
    return [];
  }

  // @ts-expect-error
  @BloomGuardedMany('products', { key: (row: { skuu: string }) => row.skuu })
  async otherRow(_ids: string[]): Promise<({ sku: string } | null)[]> {
    return [];
  }
}
