// Run by "npm run release:version", after changesets have raised the version: the list under "Unreleased" in
// CHANGELOG.md becomes that of the version in package.json, what was changed first. With --check, run before
// a release: fails when the version has no list.
import { readFileSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const changelog = readFileSync('CHANGELOG.md', 'utf8');
const hasHeading = (heading) => changelog.split('\n').includes(`## ${heading}`);

if (process.argv.includes('--check')) {
  if (!hasHeading(version))
    throw new Error(
      `Expected CHANGELOG.md to have a heading "## ${version}", found none. Run "npm run release:version".`,
    );
} else {
  if (!hasHeading('Unreleased'))
    throw new Error('Expected CHANGELOG.md to have a heading "## Unreleased", found none. Add one.');
  if (hasHeading(version))
    throw new Error(
      `CHANGELOG.md has version ${version} already. Add a changeset ("npm run changeset"), so that the version is raised.`,
    );
  const [head, rest] = splitAt(changelog, /^## Unreleased\n/m);
  const [list, older] = splitAt(rest, /^(?=## )/m);
  writeFileSync('CHANGELOG.md', `${head}## ${version}\n\n${grouped(list)}\n${older}`);
}

/** What is before the first match, and what is after it. */
function splitAt(text, pattern) {
  const match = pattern.exec(text);
  return match ? [text.slice(0, match.index), text.slice(match.index + match[0].length)] : [text, ''];
}

/** The entries by what they begin with. */
function grouped(list) {
  const groups = { Changed: [], New: [], Fixed: [] };
  for (const entry of list.split(/^(?=- )/m).filter((text) => text.trim() !== '')) {
    const [, kind] = /^- \*\*(Changed|Fixed)\*\*: /.exec(entry) ?? [];
    groups[kind ?? 'New'].push(kind ? `- ${upperFirst(entry.slice(`- **${kind}**: `.length))}` : entry);
  }
  return Object.entries(groups)
    .filter(([, entries]) => entries.length > 0)
    .map(([kind, entries]) => `### ${kind}\n\n${entries.join('').trimEnd()}\n`)
    .join('\n');
}

function upperFirst(text) {
  return text[0].toUpperCase() + text.slice(1);
}
