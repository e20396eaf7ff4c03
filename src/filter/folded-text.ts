import { equalLetter } from './equal-letters.js';
import { MAX_ID_BYTES_LIMIT } from './id.js';

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
/**
 * Marks, what is not seen, vowels that some collations move behind the next letter, and marks that have a
 * place of their own.
 */
const MARKS = /[\p{M}\p{Cf}\p{DI}\p{LOE}\u037a\ufc5e-\ufc63\ufe70-\ufe7f]|(?!\s)\p{Cc}/gu;
const DIGIT = /^\p{Nd}$/u;
const PIECE = 1_024;

/**
 * One text for all that collations take for equal without case and accents. Letters and digits of ASCII keep
 * their order and their number. Each character is mapped by itself: texts are equal whose characters are
 * equal one by one.
 */
export function foldedText(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text.toLowerCase().trim();
  let folded = '';
  // No further than to a text that is too long for every filter: one character may become eighteen.
  for (let start = 0; start < text.length && folded.length <= MAX_ID_BYTES_LIMIT;) {
    const end = start + PIECE + Number(isHighSurrogate(text.charCodeAt(start + PIECE - 1)));
    folded += foldedPiece(text.slice(start, end));
    start = end;
  }
  return folded.trim();
}

function foldedPiece(text: string): string {
  // Before it is decomposed as well: the engine sorts the marks after a letter in quadratic time.
  const letters = withoutMarks(withoutMarks(text).normalize('NFKD'));
  return letters
    .toUpperCase()
    .toLowerCase()
    .replace(/[^\0-\x7f]/gu, foldedLetter);
}

/** Some marks are letters. */
function withoutMarks(text: string): string {
  return text.replace(MARKS, (mark) => equalLetter(mark) ?? '');
}

function foldedLetter(letter: string): string {
  const equal = equalLetter(letter);
  if (equal !== undefined) return equal;
  if (DIGIT.test(letter)) return digitText(letter.codePointAt(0)!);
  // Some collations tell no two characters beyond U+FFFF apart.
  return letter.length > 1 ? '\ufffd' : letter;
}

/** The digits of a script follow one another, from its zero on. */
function digitText(codePoint: number): string {
  let zero = codePoint;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  return String((codePoint - zero) % 10);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
