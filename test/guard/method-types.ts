import { BloomGuarded, BloomRegisters } from '../../src/guard/index.js';

/** Never run: `npm run typecheck` fails when a line below compiles that must not, or does not compile that must. */
export abstract class MethodTypes {
  @BloomGuarded('products')
  async asynchronous(_sku: string): Promise<string | null> {
    return null;
  }

  @BloomGuarded('products')
  returnsPromise(): Promise<void> {
    return Promise.resolve();
  }

  @BloomGuarded('products', { id: (query: { sku: string }, _page: number) => query.sku })
  @BloomRegisters('products', { id: (query: { sku: string }) => [query.sku, 1, 2n, new Uint8Array(1)] })
  async both(_query: { sku: string }, _page: number): Promise<void> {}

  @BloomRegisters('products', { from: 'result', id: 'id', onError: 'queue' })
  protected async generic<T>(value: T): Promise<T> {
    return value;
  }

  // @ts-expect-error A value cannot be withheld until the filter has answered.
  @BloomGuarded('products')
  synchronous(_sku: string): string {
    return '';
  }

  // @ts-expect-error
  @BloomGuarded('products')
  sometimes(sku: string): string | Promise<string> {
    return sku;
  }

  // @ts-expect-error
  @BloomGuarded('products')
  async *generator(): AsyncGenerator<string> {}

  // @ts-expect-error
  @BloomRegisters('products')
  nothing(): void {}

  // @ts-expect-error
  @BloomGuarded('products')
  property = async () => {};

  // @ts-expect-error
  @BloomGuarded('products')
  get accessor(): string {
    return '';
  }

  // @ts-expect-error An id is no object.
  @BloomGuarded('products', { id: (query: { sku: string }) => query })
  async objectId(_query: { sku: string }): Promise<void> {}

  // @ts-expect-error
  @BloomGuarded('products', { onUnknown: 'ignore' })
  async misspelt(_sku: string): Promise<void> {}
}
