import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { messagesOf, PUT_IN } from '../support/messages-of-source.js';

const MOST_WORDS_OF_SENTENCE = 30;
const MOST_WORDS = 25_500;
const WORD = /\S*[\p{L}\p{N}]\S*/gu;

/** What readers stumble over, and what to write in its place. */
const BANNED: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\b[iI]ds?\b/, 'ID'],
  [/"(absent|maybe|unknown)"/, 'the verdict in code font'],
  [/\bwrong absents?\b/i, 'false negative'],
  [/\b(nobody|somebody|whoever|whomever|no one)\b/i, 'the actor: you, the library, Redis, a process'],
  [/\bby hand\b/i, 'manually, yourself'],
  [/\b(mend(s|ed)?|cure[sd]?)\b/i, 'fix'],
  [/\bpast the (application|filter|guard)\b/i, 'bypassing'],
  [/\b(as ever|all the same|of its own accord)\b/i, 'as before, anyway, by itself'],
  [/\b(without a life|its life)\b/i, 'TTL'],
  [/\b(shall|whilst|were it|had it)\b/i, 'plain verbs'],
  [/\b(is|are) to be\b/i, 'must, will'],
  [/(?<!there )\b(is|are) no\b(?! longer)/i, 'is not a, or what it is'],
  [/\b(nothing but|no other than)\b/i, 'only'],
  [/\bmasters?\b/i, 'primary'],
  [/\b(hears|believes|believed|vouches|is told)\b/i, 'receives, treats as, is configured with'],
  [/\bat (the )?start\b(?! of)/i, 'at startup'],
  [/\bdoor(s)?\b/i, 'entry point'],
];

const pages = ['docs', 'docs/recipes'].flatMap((folder) =>
  readdirSync(folder)
    .filter((page) => page.endsWith('.md') && page !== 'README.zh-CN.md')
    .map((page) => `${folder}/${page}`),
);

/** Those that npm and GitHub show are checked too, and count apart. */
const all = [
  ...pages,
  'README.md',
  'SECURITY.md',
  ...readdirSync('packages').map((wing) => `packages/${wing}/README.md`),
];

/** The prose of a page: no code, pictures, addresses, or rows whose text comes from the source. */
function proseOf(page: string): string {
  return readFileSync(page, 'utf8')
    .replace(/^ *```[^]*?^ *```$/gm, '')
    .replace(/^\| `bloom_.*$/gm, '')
    .replace(/^> .*$/gm, '')
    .replace(/<picture>[^]*?<\/picture>|!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/`[^`\n]+`/g, '`code1`');
}

/** A colon ends one as well. */
function sentencesOf(prose: string): string[] {
  const blocks = prose.split(/\n\s*\n|\n(?=\s*(?:[-*|#>]|\d+\.) ?)/).flatMap((block) => block.split(' | '));
  return blocks.flatMap((block) => block.split(/(?<=[.!?:][)*_"]*)\s+/)).map((one) => one.trim());
}

const wordsOf = (text: string) => text.match(WORD) ?? [];

describe('The prose of the user pages', () => {
  it('is short', () => {
    const words = pages.map((page) => wordsOf(proseOf(page)).length);
    expect(words.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(MOST_WORDS);
  });

  it.each(all)('has short sentences: %s', (page) => {
    const long = sentencesOf(proseOf(page)).filter((one) => wordsOf(one).length > MOST_WORDS_OF_SENTENCE);
    expect(long).toEqual([]);
  });

  it.each(all)('has the words that readers know: %s', (page) => {
    const found = sentencesOf(proseOf(page)).flatMap((sentence) =>
      BANNED.filter(([phrase]) => phrase.test(sentence)).map(([, instead]) => `${instead}: ${sentence}`),
    );
    expect(found).toEqual([]);
  });

  it('says what each page is for, under its title', () => {
    const without = pages.filter((page) => !/^# .+\n\n[^#|`\s-]/.test(readFileSync(page, 'utf8')));
    expect(without).toEqual([]);
  });

  it('is reached from the index', () => {
    const index = readFileSync('docs/README.md', 'utf8');
    const missing = pages
      .filter(
        (page) => page.startsWith('docs/') && !page.startsWith('docs/recipes/') && page !== 'docs/README.md',
      )
      .filter((page) => !index.includes(`](${page.slice('docs/'.length)}`));
    expect(missing).toEqual([]);
  });
});

/** Rules of pages that messages keep as well; 'master' in quotes is a word of Redis. */
const BANNED_IN_MESSAGES: typeof BANNED = [
  ...BANNED.filter(
    ([, instead]) => !['ID', 'the verdict in code font', 'plain verbs', 'primary'].includes(instead),
  ),
  [/\b(shall|whilst|were it)\b/i, 'plain verbs'],
  [/(?<!')\bmasters?\b(?!')/i, 'primary'],
  [/\b(hears?|tells|told)\b/i, 'receives, says'],
  [/\b(staging|stagings|staged)\b/i, 'the new build'],
  [/\bmakes? no sense\b/i, 'is not valid'],
  [new RegExp(`${PUT_IN} (rows|keys|calls|adds)\\b`), 'plural()'],
];

describe.each(['src', ...readdirSync('packages').map((wing) => `packages/${wing}/src`)])(
  'The messages of %s',
  (folder) => {
    const messages = messagesOf(folder, /\.messages\.ts$|event-(log|text)\.ts$/);
    const sentences = [...new Set(messages.flatMap(sentencesOf))];

    it('have short sentences', () => {
      expect(sentences.filter((one) => wordsOf(one).length > MOST_WORDS_OF_SENTENCE)).toEqual([]);
    });

    it('have the words that readers know', () => {
      const found = sentences.flatMap((sentence) =>
        BANNED_IN_MESSAGES.filter(([phrase]) => phrase.test(sentence)).map(
          ([, instead]) => `${instead}: ${sentence}`,
        ),
      );
      expect(found).toEqual([]);
    });
  },
);

describe('The alert rules', () => {
  it('lead to their entries in the runbook', () => {
    const rules = readFileSync('packages/prometheus/grafana/alerts.yml', 'utf8');
    const alerts = [...rules.matchAll(/- alert: (\w+)[^]*?runbook_url: \S+\/docs\/runbook\.md#(\w+)$/gm)];
    const entries = [...readFileSync('docs/runbook.md', 'utf8').matchAll(/^### (Bloom\w+)$/gm)];
    expect(alerts.map(([, alert]) => alert)).toEqual(
      [...rules.matchAll(/- alert: (\w+)/g)].map(([, one]) => one),
    );
    expect(alerts.map(([, , anchor]) => anchor)).toEqual(alerts.map(([, alert]) => alert!.toLowerCase()));
    expect(entries.map(([, entry]) => entry).sort()).toEqual(alerts.map(([, alert]) => alert).sort());
  });
});
