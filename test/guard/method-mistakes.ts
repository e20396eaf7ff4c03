import { BloomGuarded, BloomRegisters } from '../../src/index.js';
import type { Anything } from './support/anything.js';

/** Never run: `npm run typecheck` fails when a line below an expectation compiles. */
export abstract class Mistakes<T, Row extends { name: string }> {
  // @ts-expect-error A list of ids is none.
  @BloomGuarded('products')
  async many(_ids: string[]): Promise<void> {}

  // @ts-expect-error The first argument is the request.
  @BloomGuarded('products')
  async request(_request: { url: string }, _sku: string): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products')
  async objectId(_id: { toHexString(): string }): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products')
  async sometimes(_id: string | Date): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products')
  async unknown(_id: unknown): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products')
  async truth(_id: boolean): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products')
  async nothing(): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products')
  async generic<Own>(_id: Own): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products')
  async ofClass(_id: T): Promise<void> {}

  overloaded(sku: string): Promise<1>;
  overloaded(at: Date): Promise<2>;
  // @ts-expect-error
  @BloomGuarded('products')
  async overloaded(_id: Anything): Promise<Anything> {}

  partly(sku: string): string;
  partly(id: number): Promise<string>;
  // @ts-expect-error
  @BloomGuarded('products')
  partly(_id: Anything): Anything {}

  // @ts-expect-error
  @BloomGuarded('products', { id: 'skuu' })
  async misspelt(_query: { sku: string }): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products', { id: 'sku' })
  async misspeltInText(_sku: string): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products', { id: 'sku' })
  async misspeltInUnknown(_query: unknown): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products', { id: 'sku' })
  async misspeltInUnion(_query: { sku: string } | { no: string }): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products', { id: 'sku' })
  async misspeltInRow(_row: Row): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products', { id: 'at' })
  async date(_query: { at: Date }): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products', { id: 'ids' })
  async list(_query: { ids?: string[] }): Promise<void> {}

  // @ts-expect-error An id is no object.
  @BloomGuarded('products', { id: (query: { sku: string }) => query })
  async object(_query: { sku: string }): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products', { id: async (query: { sku: string }) => query.sku })
  async promise(_query: { sku: string }): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products', { id: (query: { skuu: string }) => query.skuu })
  async otherArgument(_query: { sku: string }): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products', { id: (query: { sku: string }, page: number) => query.sku + page })
  async moreArguments(_query: { sku: string }): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products', { onUnknown: 'ignore' })
  async otherAnswer(_sku: string): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products', { onUnknow: 'pass' })
  async otherOption(_sku: string): Promise<void> {}

  // @ts-expect-error A route may mean "not found", a provider "no elements".
  @BloomGuarded('products')
  async listOf(_sku: string): Promise<T[]> {
    return [];
  }

  // @ts-expect-error
  @BloomGuarded('products', { onAbsent: 'null' })
  async notNull(_sku: string): Promise<{ sku: string }> {
    return { sku: '' };
  }

  // @ts-expect-error
  @BloomGuarded('products', { onAbsent: 'empty' })
  async noList(_sku: string): Promise<T> {
    return Promise.reject(new Error());
  }

  // @ts-expect-error A value cannot be withheld until the filter has answered.
  @BloomGuarded('products')
  synchronous(_sku: string): string {
    return '';
  }

  // @ts-expect-error
  @BloomGuarded('products')
  atTimes(sku: string): string | Promise<string> {
    return sku;
  }

  // @ts-expect-error
  @BloomGuarded('products')
  async *generator(_sku: string): AsyncGenerator<string> {}

  // @ts-expect-error
  @BloomGuarded('products')
  static async ofNoObject(_sku: string): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products')
  property = async () => {};

  // @ts-expect-error
  @BloomGuarded('products')
  get accessor(): string {
    return '';
  }

  // @ts-expect-error
  @BloomRegisters('products')
  register(): void {}

  // @ts-expect-error Only a function may give several ids.
  @BloomRegisters('products')
  async registerMany(_skus: string[]): Promise<void> {}

  // @ts-expect-error
  @BloomRegisters('products', { id: 'skus' })
  async registerProperty(_rows: { skus: string[] }): Promise<void> {}

  // @ts-expect-error
  @BloomRegisters('products', { from: 'result' })
  async registerNothing(_sku: string): Promise<void> {}

  // @ts-expect-error
  @BloomRegisters('products', { from: 'result', id: 'id' })
  async registerRow(row: Row): Promise<Row> {
    return row;
  }

  // @ts-expect-error
  @BloomRegisters('products', { from: 'result', id: (row: { id: string }) => row.id })
  async registerFunction(row: Row): Promise<Row> {
    return row;
  }
}
