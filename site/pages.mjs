// The pages of the site: where a file of the repository is shown, and in which order.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const REPOSITORY = 'https://github.com/nestjs-bloom/nestjs-bloom';
export const SITE = 'https://nestjs-bloom.github.io';
export const BASE = '/nestjs-bloom/';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
export const VERSION = version;

const GROUPS = {
  Start: ['README.md', 'docs/README.md', 'docs/need.md', 'docs/faq.md', 'docs/glossary.md'],
  Build: [
    'docs/adopt.md',
    'docs/configuration.md',
    'docs/sources.md',
    'docs/outside-writers.md',
    'docs/tenants.md',
    'docs/options.md',
    'docs/testing.md',
    'docs/interop.md',
    'docs/remove.md',
  ],
  Recipes: markdownOf('docs/recipes'),
  Run: [
    'docs/runbook.md',
    'docs/troubleshooting.md',
    'docs/messages.md',
    'docs/operations.md',
    'docs/upgrade.md',
    'docs/overload.md',
    'docs/attacks.md',
    'docs/security.md',
    'docs/cluster.md',
    'docs/scale.md',
    'docs/command-line.md',
    'docs/dashboard.md',
    'docs/metrics.md',
    'docs/prometheus.md',
    'docs/opentelemetry.md',
  ],
  Trust: ['docs/guarantees.md', 'docs/performance.md', 'docs/versions.md', 'SECURITY.md', 'CHANGELOG.md'],
  Packages: readdirSync(join(ROOT, 'packages')).map((wing) => `packages/${wing}/README.md`),
  'For contributors': [
    'CONTRIBUTING.md',
    ...markdownOf('docs/internals'),
    'packages/interop/DESIGN.md',
    'packages/postgres/DESIGN.md',
    'bench/README.md',
    'examples/README.md',
    'sample-app/README.md',
  ],
};
const CHINESE = 'docs/README.zh-CN.md';

const pages = [...Object.values(GROUPS).flat(), CHINESE];
const missing = markdownOf('docs').filter((page) => !pages.includes(page));
if (missing.length > 0)
  throw new Error(`Expected each page in a group of site/pages.mjs, got none for ${missing}.`);

/** The path of each page on the site, by its path in the repository. */
export const REWRITES = Object.fromEntries(
  pages.map((page) => [page, page.replace('README.zh-CN', 'zh-CN').replace('README', 'index')]),
);

export const SIDEBAR = Object.entries(GROUPS).map(([text, files]) => ({
  text,
  collapsed: text === 'Start' || text === 'Build' || text === 'Run' ? false : true,
  items: files.map((file) => ({ text: titleOf(file), link: linkTo(file) })),
}));

/** A Markdown file that is no page is left out: READMEs of examples and tests, reports of the API. */
export const EXCLUDED = ['site/**', 'api/**', 'test/**', 'examples/*/**', 'packages/*/{src,test}/**'];

/**
 * Where a link of a page leads on the site: to another page, or to the repository's file.
 *
 * @param page the page's path in the repository.
 */
export function hrefOf(page, href) {
  const isOfRepository = href.startsWith(`${REPOSITORY}/blob/main/`);
  if (!isOfRepository && /^(#|\/|[a-z]+:)/.test(href)) return href;
  const [, path, hash = ''] = /^([^#]*)(#.*)?$/.exec(href);
  const file = isOfRepository
    ? path.slice(`${REPOSITORY}/blob/main/`.length)
    : relative(ROOT, resolve(ROOT, dirname(page), path));
  if (REWRITES[file]) return linkTo(file) + hash;
  if (!existsSync(join(ROOT, file))) throw new Error(`Dead link in ${page}: ${href}`);
  return `${REPOSITORY}/blob/main/${file}${hash}`;
}

function linkTo(file) {
  return `/${REWRITES[file].replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`;
}

function titleOf(file) {
  if (file === 'README.md') return 'Quick start';
  return /^# (.*)$/m.exec(readFileSync(join(ROOT, file), 'utf8'))[1].replaceAll('`', '');
}

function markdownOf(folder) {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}
