import { slug } from 'github-slugger';
import { defineConfig } from 'vitepress';
import llmstxt from 'vitepress-plugin-llms';
import { BASE, EXCLUDED, hrefOf, REPOSITORY, REWRITES, ROOT, SIDEBAR, SITE, VERSION } from '../pages.mjs';

const ICON =
  'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4" fill="%233b5bdb"><path d="M0 0h2v2H0zM2 2h2v2H2z"/></svg>';

/** Pages lie outside of this folder, so Vite does not find Vue from there. Node does, when it renders. */
const vueOfThisFolder = {
  name: 'vue-of-this-folder',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) => (ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : undefined),
};

export default defineConfig({
  title: 'nestjs-bloom',
  description: 'Bloom filters for NestJS that stop lookups of IDs that do not exist.',
  base: BASE,
  head: [['link', { rel: 'icon', href: ICON }]],
  srcDir: ROOT,
  srcExclude: EXCLUDED,
  outDir: 'dist',
  cleanUrls: true,
  rewrites: REWRITES,
  markdown: {
    // Anchors are those of GitHub, which remark checks.
    anchor: { slugify: slug },
    config: (markdown) => {
      markdown.core.ruler.push('site-links', linkPages);
      markdown.core.ruler.push('site-language', markChinese);
    },
  },
  vite: {
    plugins: [
      llmstxt({
        domain: SITE,
        injectLLMHint: false,
        excludeIndexPage: false,
        ignoreFiles: ['docs/README.zh-CN.md'],
      }),
      vueOfThisFolder,
    ],
  },
  themeConfig: {
    nav: [
      { text: 'Docs', link: '/docs/' },
      // TypeDoc writes it, so the router of the site does not know it.
      { text: 'API', link: '/api/', target: '_self' },
      { text: '中文', link: '/docs/zh-CN' },
      { text: `v${VERSION}`, link: '/CHANGELOG' },
    ],
    sidebar: SIDEBAR,
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          // Pages for users come first. The browser runs the text of this function.
          searchOptions: {
            boostDocument: (id) => (/internals|DESIGN|CHANGELOG|bench/.test(id) ? 0.2 : 1),
          },
        },
      },
    },
    editLink: { pattern: `${REPOSITORY}/edit/main/:path`, text: 'Edit this page' },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
  },
});

/** The links of a page, as they lead on the site. */
function linkPages({ tokens, env }) {
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    if (token.type === 'link_open') token.attrSet('href', hrefOf(sourceOf(env), token.attrGet('href')));
  }
}

/** A page in Chinese says so: browsers choose fonts by it. */
function markChinese({ tokens, env, Token }) {
  if (!sourceOf(env).endsWith('.zh-CN.md')) return;
  const html = (content) => Object.assign(new Token('html_block', '', 0), { content });
  tokens.unshift(html('<div lang="zh-CN">\n'));
  tokens.push(html('</div>\n'));
}

/** The page's path in the repository. */
function sourceOf({ path }) {
  return path.slice(ROOT.length);
}
