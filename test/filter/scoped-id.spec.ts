import { describe, expect, it } from '@jest/globals';
import { BloomConfigError, BloomIdError } from '../../src/common/index.js';
import {
  type BloomId,
  idKeyText,
  integer,
  normalizeScoped,
  scopedBy,
  scopedId,
  type BloomScope,
  toIdKey,
  uuid,
} from '../../src/filter/index.js';
import { Random, SEED } from '../support/random.js';

const UUID = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6';

describe('scopedId', () => {
  // Stored for ever, and made by programs in other languages.
  it.each<[BloomScope, BloomId, string]>([
    ['acme', 7, '4:acme:7'],
    ['acme', '7', '4:acme:7'],
    [42, 'mug', '2:42:mug'],
    [42n, 7n, '2:42:7'],
    [-1, 0, '2:-1:0'],
    ['a', 'b:c', '1:a:b:c'],
    ['a:b', 'c', '3:a:b:c'],
    ['Zoë', 'mug', '3:zoe:mug'],
    ['Acme ', 'Mug ', '4:acme:Mug '],
    ['ACME', 7, '4:acme:7'],
    ['+007', '007', '1:7:007'],
    ['000', 7, '1:0:7'],
    ['0x7', 7, '3:0x7:7'],
    [`{${UUID.toUpperCase().replaceAll('-', '')}}`, 7, `36:${UUID}:7`],
    ['\u200b', 7, '3:\u200b:7'],
    ['日本', '茶', '6:日本:茶'],
    ['😀', ':', '3:\ufffd::'],
    ['4:acme:7', '1', '8:4:acme:7:1'],
    [' ', ' ', '1: : '],
  ])('of %p and %p is %p', (scope, id, text) => {
    expect(scopedId(scope, id)).toBe(text);
  });

  it('of bytes has the bytes behind the scope', () => {
    const key = scopedId('茶', Uint8Array.of(0, 255, 58)) as Uint8Array;
    expect(Buffer.from(key).toString('hex')).toBe(`${Buffer.from('3:茶:').toString('hex')}00ff3a`);
  });

  it('is that of the digits of an ObjectId', () => {
    const id = { toHexString: () => '507f1f77bcf86cd799439011' };
    expect(scopedId('a', id as never)).toBe('1:a:507f1f77bcf86cd799439011');
  });

  it.each([undefined, null, '', NaN, 1.5, 2 ** 53, true, {}, [], ['a'], Uint8Array.of(1), Symbol('a')])(
    'refuses the scope %p, and not as an invalid id',
    (scope) => {
      const failure = () => scopedId(scope as never, 7);
      expect(failure).toThrow(BloomConfigError);
      expect(failure).not.toThrow(BloomIdError);
      expect(() => scopedBy(scope as never)).toThrow(BloomConfigError);
    },
  );

  it.each([undefined, null, '', NaN, {}, [], new Uint8Array(0)])('refuses the id %p', (id) => {
    expect(() => scopedId('a', id as never)).toThrow(BloomIdError);
    expect(scopedBy('a')(id)).toBe(id);
  });

  it(`is another one for each pair, however scopes and ids are cut (seed ${SEED})`, () => {
    const letters = ['a', ':', '1', '2', '11', 'б', '😀', '日', '~', '4:acme:'];
    const random = new Random(SEED);
    const part = () => Array.from({ length: 1 + random.below(4) }, () => random.choose(letters)).join('');
    const normalize = normalizeScoped('orders', undefined);
    const pairs = new Map<string, string>();
    const wrong: string[] = [];
    for (let i = 0; i < 20_000; i++) {
      const [scope, id] = [part(), part()];
      const key = scopedId(scope, id);
      const pair = JSON.stringify([scope, id]);
      const text = idKeyText(toIdKey(key));
      if ((pairs.get(text) ?? pair) !== pair || normalize(key) !== key) wrong.push(pair);
      pairs.set(text, pair);
    }
    expect(wrong).toEqual([]);
    expect(pairs.size).toBeGreaterThan(10_000);
  });
});

describe('normalizeScoped', () => {
  const integers = normalizeScoped('orders', integer);
  const uuids = normalizeScoped('orders', uuid);

  it('normalizes the id alone', () => {
    expect(integers(scopedId('007', '007'))).toBe('1:7:7');
    expect(integers(scopedId('日本', ' +7 '))).toBe('6:日本:7');
    expect(uuids(scopedId(UUID.toUpperCase(), UUID.toUpperCase()))).toBe(`36:${UUID}:${UUID}`);
    const bytes = Buffer.from(UUID.replaceAll('-', ''), 'hex');
    expect(uuids(scopedId('茶', new Uint8Array(bytes)))).toBe(`3:茶:${UUID}`);
    expect(toIdKey(uuids(scopedId('茶', Uint8Array.of(9))))).toEqual(
      toIdKey(scopedId('茶', Uint8Array.of(9))),
    );
  });

  it('folds scopes of keys that others have made', () => {
    for (const key of ['4:Acme:7', '5:ACME :007', '8:acme\u200b :7']) expect(integers(key)).toBe('4:acme:7');
    expect(idKeyText(toIdKey(integers(Buffer.from('4:Zoë:7'))))).toBe('3:zoe:7');
    expect(integers('3:+07:7')).toBe('1:7:7');
  });

  it.each<[unknown]>([
    [7],
    [7n],
    ['7'],
    [UUID],
    ['acme:7'],
    ['4:acme'],
    ['4:acme:'],
    ['5:acme:7'],
    ['3:acme:7'],
    ['04:acme:7'],
    ['+4:acme:7'],
    ['0::7'],
    ['1:é:x'],
    ['2:é'],
    ['3:😀:x'],
    ['99999:a:b'],
    [Uint8Array.of(7)],
    [Buffer.from('3:é:x')],
  ])('refuses %p, which has no scope, and not as an invalid id', (id) => {
    const failure = () => integers(id as BloomId);
    expect(failure).toThrow(BloomConfigError);
    expect(failure).toThrow(/Filter 'orders': expected an id with its scope/);
  });

  it.each([undefined, null, '', {}, NaN])('refuses %p as an invalid id', (id) => {
    expect(() => integers(id as never)).toThrow(BloomIdError);
  });

  it('refuses an id of which normalize leaves nothing', () => {
    expect(() => normalizeScoped('orders', () => '')(scopedId('a', 7))).toThrow(BloomIdError);
  });
});
