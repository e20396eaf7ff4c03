import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('..', import.meta.url));
const UNRELEASED = `# Changelog

## Unreleased

- A source.
- **Fixed**: a fault,
  of two lines.
- **Changed**: an option is another one:

  \`\`\`ts
  const now = 1;
  \`\`\`

- A command.

## 0.1.0

- Old.
`;
const RELEASED = `# Changelog

## 0.2.0

### Changed

- An option is another one:

  \`\`\`ts
  const now = 1;
  \`\`\`

### New

- A source.
- A command.

### Fixed

- A fault,
  of two lines.

## 0.1.0

- Old.
`;

describe('The version of the changelog', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nestjs-bloom-changelog-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function run(version: string, changelog: string, args: readonly string[] = []) {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }));
    writeFileSync(join(folder, 'CHANGELOG.md'), changelog);
    const script = join(root, 'scripts/changelog-version.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script, ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, stderr, changelog: readFileSync(join(folder, 'CHANGELOG.md'), 'utf8') };
  }

  it('names what was unreleased, what was changed first', () => {
    const { status, changelog } = run('0.2.0', UNRELEASED);
    expect(status).toBe(0);
    expect(changelog).toBe(RELEASED);
    expect(run('0.2.0', changelog, ['--check']).status).toBe(0);
  });

  it('is refused twice, and without a list', () => {
    const twice = run('0.1.0', UNRELEASED);
    expect(twice).toMatchObject({ status: 1, changelog: UNRELEASED });
    expect(twice.stderr).toContain('has version 0.1.0 already');
    expect(run('0.2.0', '# Changelog\n').stderr).toContain('found none');
    expect(run('0.2.0', UNRELEASED, ['--check']).stderr).toContain('found none');
  });

  it('is raised by a changeset while something is unreleased', () => {
    const isUnreleased = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').includes('\n## Unreleased\n');
    const pending = readdirSync(join(root, '.changeset')).filter((name) => /^(?!README).*\.md$/.test(name));
    expect(pending.length > 0).toBe(isUnreleased);
  });
});
