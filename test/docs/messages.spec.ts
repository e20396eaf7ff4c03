import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { codeOf, EVENT_TYPES, helpOn } from '../../src/common/index.js';
import { BloomOverloadError, BloomRebuildError, type BloomEvent } from '../../src/index.js';

const page = readFileSync('docs/messages.md', 'utf8');

/** Texts of each entry by its code. */
const entries = new Map(
  page
    .split(/^### /m)
    .slice(1)
    .map((entry): [string, string] => {
      const [code, ...text] = entry.split('\n');
      return [code!, text.join('\n').split(/^## /m)[0]!.trim()];
    }),
);

const sources = ['src', ...readdirSync('packages').map((wing) => `packages/${wing}/src`)].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8')),
);

const inSources = (pattern: RegExp) =>
  sources.flatMap((text) => [...text.matchAll(pattern)].map(([, code]) => code!));
const errors = inSources(/readonly code = '(BLOOM_[A-Z_]+)'/g);
const texts = inSources(/['"`](BLOOM_[A-Z_]+): /g);
const events = EVENT_TYPES.map((type) => codeOf({ type } as BloomEvent));

describe('The codes in docs/messages.md', () => {
  it('are those of errors, events and texts, each once', () => {
    expect(errors).toEqual(expect.arrayContaining(['BLOOM_CONFIG', 'BLOOM_OVERLOAD', 'BLOOM_REBUILD']));
    expect(texts).toEqual(expect.arrayContaining(['BLOOM_NO_OWNER', 'BLOOM_SPANS_FAILED']));
    expect([...entries.keys()].sort()).toEqual([...new Set([...errors, ...texts, ...events])].sort());
    expect(page.match(/^### /gm)).toHaveLength(entries.size);
    expect(errors.filter((code) => texts.includes(code) || events.includes(code))).toEqual([]);
  });

  it.each([...entries])('are explained: %s', (_code, text) => {
    expect(text.replaceAll(/`[^`]*`/g, '').match(/[a-z]{2,}/g)?.length ?? 0).toBeGreaterThan(
      text.includes('progress') ? -1 : 3,
    );
  });

  it('have the fields of their events', () => {
    const declared = readFileSync('src/common/event-map.ts', 'utf8');
    const missing = EVENT_TYPES.flatMap((type) => {
      const [, body] = new RegExp(`^  '?${type}'?: (\\w+;|\\{\\};|\\{[^]*?^  \\};)`, 'm').exec(declared)!;
      const fields = body!.startsWith('{')
        ? [...body!.matchAll(/^ {4}(\w+\??):/gm)].map(([, one]) => one!)
        : ['error'];
      expect(fields.length).toBeGreaterThan(body!.includes(':') ? 0 : -1);
      const listed = /^`\{ ([^`]*) \}`/.exec(entries.get(codeOf({ type } as BloomEvent))!)?.[1]?.split(', ');
      return fields.filter((field) => !listed?.includes(field)).map((field) => `${type}: ${field}`);
    });
    expect(missing).toEqual([]);
  });

  it.each(['src/module/event-log.ts', 'packages/dashboard/src/event-text.ts'])(
    'of events have a text and a level in %s',
    (file) => {
      const text = readFileSync(file, 'utf8');
      expect(EVENT_TYPES.filter((type) => !text.includes(`case '${type}':`))).toEqual([]);
      // The default of a switch would hide an event that is new.
      expect(text).not.toMatch(/\bdefault:/);
    },
  );

  it('have the reasons of rebuilds that failed', () => {
    const reasons = /type BloomRebuildFailure =([^;]*);/.exec(
      readFileSync('src/common/errors.ts', 'utf8'),
    )![1]!;
    const all = [...reasons.matchAll(/\| '([a-z-]+)'/g)].map(([, reason]) => reason!);
    expect(all.length).toBeGreaterThan(8);
    expect(all.filter((reason) => !entries.get('BLOOM_REBUILD')!.includes(`\`${reason}\``))).toEqual([]);
  });

  it('are led to by the errors, at the home of the package', () => {
    const { repository } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      repository: { url: string };
    };
    const home = `${/^git\+(.*)\.git$/.exec(repository.url)![1]!}/blob/main/docs/messages.md#`;
    expect(helpOn('BLOOM_NO_OWNER')).toBe(`${home}bloom_no_owner`);
    for (const error of [new BloomRebuildError('aborted', 'x'), new BloomOverloadError('x')])
      expect(error).toMatchObject({ help: helpOn(error.code) });
  });
});
