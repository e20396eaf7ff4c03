// Run by "npm run release:version", after changesets have raised the version: the list under "Unreleased" in CHANGELOG.md
// becomes that of the version in package.json. With --check, run before a release: fails when the version has no list.
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
  writeFileSync('CHANGELOG.md', changelog.replace(/^## Unreleased$/m, `## ${version}`));
}
