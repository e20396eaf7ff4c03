import { applyDecorators, Body, Get, Param, SetMetadata } from '@nestjs/common';
import { type BloomGuardedOptions, BloomGuarded, BloomRegisters } from '../../src/index.js';
import type { BloomId } from '../../src/filter/index.js';
import type { Anything } from './support/anything.js';

enum Kind {
  Book = 'book',
}
type Sku = string & { readonly brand: 'sku' };
declare const anyOptions: BloomGuardedOptions;

/** Never run: `npm run typecheck` fails when a line below does not compile. */
export abstract class MethodsWithIds<Id extends BloomId, Row extends { id: string }, T> {
  readonly prefix = '';

  @BloomGuarded('products')
  async text(_sku: string, _page: number): Promise<string | null> {
    return null;
  }

  @BloomGuarded('products')
  returnsPromise(_sku?: string): Promise<void> {
    return Promise.resolve();
  }

  @BloomGuarded('products')
  async union(
    _id: number | bigint | Uint8Array | Buffer | Sku | Kind | `a-${string}` | null,
  ): Promise<void> {}

  @BloomGuarded('products')
  async anything(_id: Anything): Promise<void> {}

  @BloomGuarded('products')
  async rest(..._ids: string[]): Promise<void> {}

  @BloomGuarded('products')
  async all(..._args: Anything[]): Promise<void> {}

  @BloomGuarded('products')
  async generic<Own extends BloomId>(_id: Own, _row?: T): Promise<Own | null> {
    return null;
  }

  @BloomGuarded('products')
  async ofClass(_id: Id, ..._rows: T[]): Promise<T | null> {
    return null;
  }

  @BloomGuarded('products')
  async ofMember(_id: Row['id']): Promise<T> {
    return Promise.reject(new Error());
  }

  @BloomGuarded('products')
  async withThis(this: MethodsWithIds<Id, Row, T>, _sku: string): Promise<void> {}

  overloaded(sku: string): Promise<1>;
  overloaded(id: number, page: string): Promise<2>;
  @BloomGuarded('products')
  async overloaded(_id: string | number): Promise<1 | 2> {
    return 1;
  }

  @Get(':sku')
  @BloomGuarded('products')
  @SetMetadata('key', 1)
  async route(@Param('sku') _sku: string): Promise<object> {
    return {};
  }

  @BloomGuarded('products', { id: 'id' })
  async property(_row?: Row): Promise<void> {}

  @BloomGuarded('products', { id: 'id' })
  async optionalProperty(_row: { id?: string | null } | { id: number } | null): Promise<void> {}

  @BloomGuarded('products', { id: 'id' })
  async ofRecord(_row: Record<string, string>): Promise<void> {}

  @BloomGuarded('products', { id: 'id' })
  async ofAnything(_row: Anything): Promise<void> {}

  @BloomGuarded('products', { id: (query: { sku: string }, _page: number) => query.sku })
  @BloomRegisters('products', { id: (query: { sku: string }) => [query.sku, 1, 2n, new Uint8Array(1)] })
  async both(_query: { sku: string }, _page: number): Promise<void> {}

  @BloomGuarded('products', { id: (row: { id: string }, page: number) => row.id + page })
  async functionOfRow(_row: Row, _page: number): Promise<void> {}

  @BloomGuarded('products', { id: (row) => row.anything })
  async untyped(_row: Row): Promise<void> {}

  @BloomGuarded('products', {
    id(this: MethodsWithIds<Id, Row, T>, row: Row) {
      return this.prefix + row.id;
    },
  })
  async functionWithThis(_row: Row): Promise<void> {}

  @BloomGuarded('products', { id: (_request: unknown, sku: string) => sku })
  async second(_request: Date, _sku: string): Promise<void> {}

  @BloomGuarded('products', { param: 'sku' })
  async behindInterceptor(_request: Date): Promise<void> {}

  @BloomGuarded('products', anyOptions)
  async anyOptions(_request: Date): Promise<void> {}

  @BloomRegisters('products')
  async register(_sku: string): Promise<void> {}

  @BloomRegisters('products', { id: 'id' })
  async registerProperty(@Body() _row: Row): Promise<void> {}

  @BloomRegisters('products', { id: (rows: Row[]) => rows.map(({ id }) => id) })
  async registerMany(_rows: Row[]): Promise<void> {}

  @BloomRegisters('products', { from: 'result' })
  async registerResult(_at: Date): Promise<number> {
    return 1;
  }

  @BloomRegisters('products', { from: 'result', id: 'id', onError: 'queue' })
  protected async registerGeneric<Own extends { id: string }>(value: Own): Promise<Own> {
    return value;
  }

  @BloomRegisters('products', { from: 'result', id: (row: { id: string }, at: Date) => [row.id, `${at}`] })
  async registerFunction(_at: Date, row: Row): Promise<Row> {
    return row;
  }
}

/** Decorators that an application composes are not checked by the compiler. */
export const composed = () => applyDecorators(Get(), BloomGuarded('products'), BloomRegisters('products'));

/** Each line below an expectation must not compile. */
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
