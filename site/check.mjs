// The last step of "npm run site": each link, anchor and picture of the built pages is there, and no page
// loads anything from another host.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BASE, SITE } from './pages.mjs';

const DIST = fileURLToPath(new URL('dist/', import.meta.url));
const OTHERS = /^(?:https?:|mailto:|data:)/;
const LOADED =
  /<(?:script|img|iframe|source|link(?=[^>]* rel="(?:stylesheet|preload|modulepreload|icon)"))\b[^>]*>/g;

const files = readdirSync(DIST, { recursive: true }).map((file) => file.replaceAll('\\', '/'));
const known = new Set(files);
const htmls = new Map(
  files.filter((file) => file.endsWith('.html')).map((file) => [file, readFileSync(DIST + file, 'utf8')]),
);
const ids = new Map([...htmls].map(([file, html]) => [file, new Set(valuesOf(html, 'id'))]));

const faults = new Set();
for (const [file, html] of htmls) {
  for (const tag of html.match(LOADED) ?? []) {
    const addresses = ['src', 'href', 'srcset'].flatMap((name) => valuesOf(tag, name));
    for (const address of addresses)
      if (/^(?:https?:)?\/\//.test(address)) faults.add(`${file} loads ${address}`);
  }
  const links = ['href', 'src', 'srcset'].flatMap((name) => valuesOf(html, name));
  for (const link of links.filter((one) => !OTHERS.test(one))) {
    const fault = faultOf(file, link);
    if (fault) faults.add(`${file}: ${link}: ${fault}`);
  }
}
for (const fault of faults) console.error(fault);
if (faults.size > 0) process.exitCode = 1;
else console.log(`The links of ${htmls.size} pages lead somewhere.`);

/** What is wrong with a link of a page; undefined if its target is there. */
function faultOf(file, link) {
  const { pathname, hash } = new URL(link.replaceAll('&amp;', '&'), `${SITE}${BASE}${file}`);
  if (!pathname.startsWith(BASE)) return 'not of this site';
  const path = decodeURIComponent(pathname.slice(BASE.length));
  const target = [path, `${path}.html`, `${path}index.html`].find((one) => known.has(one) && one !== '');
  if (target === undefined) return 'no such file';
  const anchor = decodeURIComponent(hash.slice(1));
  return anchor === '' || !ids.has(target) || ids.get(target).has(anchor) ? undefined : 'no such anchor';
}

/** The values of an attribute, wherever it is in a text of HTML. */
function valuesOf(html, name) {
  return [...html.matchAll(new RegExp(`<[a-z][^>]*?\\s${name}="([^"]*)"`, 'g'))].map(([, value]) => value);
}
