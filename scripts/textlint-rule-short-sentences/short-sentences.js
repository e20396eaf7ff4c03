// textlint-rule-en-max-word-count knows no table cells, and counts the words of code and of addresses.
const WORD = /\S*[\p{L}\p{N}]\S*/gu;
/** A colon ends a sentence as well. */
const END = /(?<=[.!?:][)*_"]*)\s+/;

export default function shortSentences({ Syntax, RuleError, getSource, locator, report }, { most }) {
  const check = (node) => {
    const text = wordsOnly(getSource(node));
    let end = 0;
    for (const sentence of text.split(END)) {
      const start = text.indexOf(sentence, end);
      end = start + sentence.length;
      const words = sentence.match(WORD)?.length ?? 0;
      if (words <= most) continue;
      const padding = locator.range([start, end]);
      report(node, new RuleError(`Expected at most ${most} words in a sentence, got ${words}`, { padding }));
    }
  };
  return { [Syntax.Paragraph]: check, [Syntax.Header]: check, [Syntax.TableCell]: check };
}

/** A picture and an address are no word, code is one. The text keeps its length, and so its positions. */
function wordsOnly(source) {
  return source
    .replace(/!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)/g, (link) => ']'.repeat(link.length))
    .replace(/`[^`\n]+`/g, (code) => 'x'.repeat(code.length));
}
