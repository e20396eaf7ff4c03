import { readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { TextlintKernelDescriptor } from '@textlint/kernel';
import { createLinter, loadTextlintrc } from 'textlint';
import { messagesOf, PUT_IN } from '../support/messages-of-source.js';

const MOST_WORDS = 25_500;
const WORD = /\S*[\p{L}\p{N}]\S*/gu;

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

const PHRASES = '@textlint-rule/pattern';

interface Phrase {
  readonly pattern: string;
  readonly message: string;
}

const config = await loadTextlintrc();
const { rules = [], plugins, filterRules } = config.toKernelOptions();
const { patterns: phrases } = rules.find(({ ruleId }) => ruleId === PHRASES)!.options as {
  readonly patterns: readonly Phrase[];
};

/** The rules of pages that messages keep as well; 'master' in quotes is a word of Redis. */
const phrasesInMessages: readonly Phrase[] = [
  ...phrases.filter(({ message }) => !/: (ID|the verdict in code font|plain verbs|primary)$/.test(message)),
  { pattern: String.raw`/\b(shall|whilst|were it)\b/i`, message: 'Write: plain verbs' },
  { pattern: String.raw`/(?<!')\bmasters?\b(?!')/i`, message: 'Write: primary' },
  { pattern: String.raw`/\b(hears?|tells|told)\b/i`, message: 'Write: receives, says' },
  { pattern: String.raw`/\b(staging|stagings|staged)\b/i`, message: 'Write: the new build' },
  { pattern: String.raw`/\bmakes? no sense\b/i`, message: 'Write: is not valid' },
  { pattern: String.raw`/${PUT_IN} (rows|keys|calls|adds)\b/`, message: 'Write: plural()' },
];

const linter = createLinter({ descriptor: config, ignoreFilePath: '.textlintignore' });
const linterOfMessages = createLinter({
  descriptor: new TextlintKernelDescriptor({
    plugins: plugins ?? [],
    filterRules: filterRules ?? [],
    rules: rules.map((rule) =>
      rule.ruleId === PHRASES ? { ...rule, options: { patterns: phrasesInMessages } } : rule,
    ),
  }),
});

const SENTENCE = 'word '.repeat(30);
/** One of each phrase, in the order of .textlintrc.yml. */
const EXAMPLES =
  'ids,"absent",wrong absents,nobody,by hand,mended,past the guard,as ever,its life,shall,is to be,are no,nothing but,masters,vouches,at start,doors';
const EXAMPLES_IN_MESSAGES = `wrong absents,nobody,by hand,mended,past the guard,as ever,its life,is to be,are no,nothing but,vouches,at start,doors,shall,master,tells,staging,makes no sense,${PUT_IN} rows`;

describe('The linter of prose', () => {
  it('has an example of each phrase', () => {
    expect(EXAMPLES.split(',')).toHaveLength(phrases.length);
  });

  it.each(['%', '- %', '## %', '| a | b |\n| - | - |\n| % | c |'])('sees what is in %j', async (place) => {
    const found = async (text: string) => {
      const { messages } = await linter.lintText(place.replace('%', text), 'page.md');
      return messages.map(({ message }) => message);
    };
    for (const [index, example] of EXAMPLES.split(',').entries())
      expect(await found(`They say ${example} here.`)).toEqual([phrases[index]!.message]);
    expect(await found(`${SENTENCE}more.`)).toEqual(['Expected at most 30 words in a sentence, got 31']);
    expect(await found(`${SENTENCE.slice(5)}\`some code\`: ${SENTENCE}`)).toEqual([]);
  });

  it('sees what is in messages', async () => {
    const text = `${EXAMPLES_IN_MESSAGES.replaceAll(',', '\n')}\n${SENTENCE}more.`;
    const { messages } = await linterOfMessages.lintText(text, 'messages.txt');
    expect(messages.map(({ message }) => message)).toEqual([
      ...phrasesInMessages.map(({ message }) => message),
      'Expected at most 30 words in a sentence, got 31',
    ]);
  });
});

describe('The prose of the user pages', () => {
  it('is short', () => {
    const words = pages.map((page) => proseOf(page).match(WORD)?.length ?? 0);
    expect(words.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(MOST_WORDS);
  });

  it('has short sentences of words that readers know, on each page that "npm run lint" checks', async () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const [, ...checked] = scripts['lint:prose'].replaceAll('"', '').split(' ');
    const results = await linter.lintFiles(checked);
    expect(results.map(({ filePath }) => relative('.', filePath)).sort()).toEqual(all.sort());
    expect(
      results.flatMap(({ filePath, messages }) =>
        messages.map(({ loc, message }) => `${filePath}:${loc.start.line}: ${message}`),
      ),
    ).toEqual([]);
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

describe('The messages', () => {
  it.each(['src', ...readdirSync('packages').map((wing) => `packages/${wing}/src`)])(
    'have short sentences of words that readers know: %s',
    async (folder) => {
      const texts = [...new Set(messagesOf(folder, /\.messages\.ts$|event-(log|text)\.ts$/))];
      // A line each; words between backticks count, as readers of a log see them.
      const lines = texts.map((text) => text.replace(/\s+/g, ' ').replaceAll('`', '"'));
      const { messages } = await linterOfMessages.lintText(lines.join('\n'), 'messages.txt');
      expect(messages.map(({ loc, message }) => `${message}: ${lines[loc.start.line - 1]}`)).toEqual([]);
    },
  );
});

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
