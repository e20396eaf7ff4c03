import { describe, expect, it } from '@jest/globals';
import { type DescribedColumn, spellingOf } from '../../src/sources/index.js';

const of = (type: string, more: Partial<DescribedColumn> = {}) =>
  spellingOf({ name: 'products.sku', type, ...more });
/** MySQL, MariaDB or SQL Server. */
const ignoresCase = true;

describe('The spelling of a column', () => {
  it.each<[type: string, more: Partial<DescribedColumn>, name: string | undefined]>([
    ['uuid', {}, 'uuid'],
    ['uniqueidentifier', { ignoresCase }, 'uuid'],
    ['bigint', {}, 'integer'],
    ['int4', {}, 'integer'],
    ['bigserial', {}, 'integer'],
    ['bigint(20) unsigned', { ignoresCase }, 'integer'],
    ['citext', {}, 'lowerCase'],
    ['public.citext', {}, 'lowerCase'],
    ['text', {}, undefined],
    ['character varying(20)', {}, undefined],
    ['text', { collation: 'de-AT-x-icu' }, undefined],
    ['text', { collation: 'blind' }, 'lowerCase'],
    ['text', { collation: 'NOCASE' }, 'lowerCase'],
    ['text collate blind', {}, 'lowerCase'],
    ['character(10) collate de_de', {}, 'lowerCase'],
    ['character(10)', {}, 'padded'],
    ['varchar(20)', { ignoresCase }, 'lowerCase'],
    ['varchar(20)', { ignoresCase, collation: 'utf8mb4_0900_as_cs' }, 'lowerCase'],
    ['nvarchar(20)', { ignoresCase, collation: 'SQL_Latin1_General_CP1_CS_AS' }, 'lowerCase'],
    ['bytea', {}, undefined],
  ])('of type %s with %j is %s', (type, more, name) => {
    expect(of(type, more)?.name).toBe(name);
  });

  it.each(['utf8mb4_bin', 'Latin1_General_BIN2'])(
    'leaves out the spaces at its end where the database does, as with %s of MySQL and SQL Server',
    (collation) => {
      const { name, normalize } = of('varchar(20)', { ignoresCase, collation })!;
      expect([name, normalize!('A '), normalize!(' a')]).toEqual(['padded', 'A', ' a']);
    },
  );

  it.each(['numeric(10,2)', 'year', 'date', 'inet', 'float8'])('of type %s is not known', (type) => {
    expect(of(type)).toEqual({ column: `products.sku is of type ${type}` });
  });
});
