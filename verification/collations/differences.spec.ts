import { describe, expect, it } from '@jest/globals';
import { differencesOf } from './differences.js';

const KEYS: Readonly<Record<string, string>> = { A: 'a', a: 'a', á: 'a', b: 'b', æ: 'ae', e: 'e', '-': '-' };
const keyOf = (text: string) => Array.from(text, (one) => KEYS[one] ?? one).join('');
const atom = (text: string, ...weights: string[]) => ({ text, weights });
const LETTERS = [atom('a', '1'), atom('A', '1'), atom('á', '1'), atom('b', '2'), atom('e', '3')];

describe('The comparison with a collation', () => {
  it('finds nothing where keys follow from weights', () => {
    expect(differencesOf([...LETTERS, atom('æ', '1', '3')], keyOf)).toEqual([]);
  });

  it('finds a letter with another key than those that are equal to it', () => {
    expect(differencesOf([...LETTERS, atom('ǎ', '1')], keyOf)).toEqual([
      { text: 'ǎ', key: 'ǎ', expected: 'a' },
    ]);
  });

  it('finds a character that is ignored and has a key', () => {
    expect(differencesOf([...LETTERS, atom('-')], keyOf)).toEqual([{ text: '-', key: '-', expected: '' }]);
  });

  it('finds a letter that is equal to two others, and two letters that are equal to one', () => {
    expect(differencesOf([...LETTERS, atom('œ', '2', '3'), atom('bb', '2')], keyOf)).toEqual([
      { text: 'bb', key: 'bb', expected: 'b' },
      { text: 'œ', key: 'œ', expected: 'be' },
    ]);
  });

  it('knows a weight that stands nowhere alone by what is left of a key', () => {
    const letters = [...LETTERS, atom('ax', '1', '9'), atom('xe', '9', '3'), atom('ex', '9', '3')];
    expect(differencesOf(letters, keyOf)).toEqual([{ text: 'ex', key: 'ex', expected: 'xe' }]);
  });

  it('compares letters whose weights are known nowhere with each other', () => {
    expect(differencesOf([atom('p', '7', '8'), atom('q', '7', '8'), atom('p', '7', '8')], keyOf)).toEqual([
      { text: 'q', key: 'q', expected: 'p' },
    ]);
  });
});
