/** All characters but 0, which no text of Postgres holds. A surrogate alone is none. */
export const CHARACTERS: readonly string[] = Array.from({ length: 0x10ffff }, (_, i) => i + 1)
  .filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
  .map((codePoint) => String.fromCodePoint(codePoint));

/**
 * Scripts with letters up to U+FFFF. Left out are those of which each character stands for itself: Han,
 * Hangul, Yi.
 */
const SCRIPTS = `
  Arabic Armenian Balinese Batak Bengali Bopomofo Buginese Buhid Canadian_Aboriginal Cham Cherokee Coptic
  Cyrillic Devanagari Ethiopic Georgian Glagolitic Greek Gujarati Gurmukhi Hanunoo Hebrew Hiragana Javanese
  Kannada Katakana Kayah_Li Khmer Lao Latin Lepcha Limbu Lisu Malayalam Mandaic Meetei_Mayek Mongolian
  Myanmar New_Tai_Lue Nko Ogham Ol_Chiki Oriya Phags_Pa Rejang Runic Samaritan Saurashtra Sinhala Sundanese
  Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tamil Telugu Thaana Thai Tibetan Tifinagh
  Vai
`;

/**
 * For each script its characters up to U+FFFF, with the marks that all scripts use, and without those that
 * stand for others.
 */
export function charactersByScript(): [script: string, characters: string[]][] {
  const plain = CHARACTERS.filter(
    (character) => character.length === 1 && character.normalize('NFKC') === character,
  );
  return SCRIPTS.trim()
    .split(/\s+/)
    .map((script) => {
      const isUsed = new RegExp(`^[\\p{scx=${script}}\\p{sc=Inherited}]$`, 'u');
      return [script, plain.filter((character) => isUsed.test(character))];
    });
}
