// Run by "npm test" before Jest: the tests of the sources need a Postgres server program. Silent when there
// is one; otherwise it is installed with the package manager of the system. No server is started here.
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installProgram } from './install-program.mjs';

const DEBIAN_FOLDER = '/usr/lib/postgresql';

const MANAGERS = [
  {
    program: 'apt-get',
    asRoot: true,
    steps: [
      ['update', '-q'],
      ['install', '-y', '-q', 'postgresql', 'postgresql-contrib'],
    ],
  },
  { program: 'apk', asRoot: true, steps: [['add', 'postgresql', 'postgresql-contrib']] },
  { program: 'dnf', asRoot: true, steps: [['install', '-y', 'postgresql-server', 'postgresql-contrib']] },
  { program: 'brew', asRoot: false, steps: [['install', 'postgresql']] },
];

const BY_HAND =
  'Install Postgres 13 or later by hand (Debian, Ubuntu: "sudo apt-get install postgresql postgresql-contrib"; macOS: "brew install ' +
  'postgresql"; Alpine: "apk add postgresql postgresql-contrib"; Fedora: "sudo dnf install postgresql-server postgresql-contrib"; ' +
  'Windows: run the tests in WSL). Then run the command again.';

function isInstalled() {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER) : [];
  const folders = [
    ...versions.map((version) => join(DEBIAN_FOLDER, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  return folders.some((folder) => ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))));
}

if (!isInstalled()) {
  installProgram({ name: 'Postgres server', managers: MANAGERS, byHand: BY_HAND, isInstalled });
}
