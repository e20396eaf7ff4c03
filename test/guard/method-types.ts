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

  @BloomGuarded('products', { onAbsent: 'empty' })
  async list(_id: Id): Promise<readonly T[]> {
    return [];
  }

  @BloomGuarded('products', { onAbsent: 'null' })
  async nullable(_id: Id): Promise<T | null> {
    return null;
  }

  @BloomGuarded('products')
  async listOrNull(_id: Id): Promise<T[] | null> {
    return [];
  }

  @BloomGuarded('products')
  async anyResult(_id: Id): Promise<Anything> {}

  @BloomGuarded('products')
  async noResult(_id: Id): Promise<never> {
    throw new Error();
  }

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
