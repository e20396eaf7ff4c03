// Run by "npm run collations": it needs a MariaDB server program. Silent when there is one; otherwise it is
// installed with the package manager of the system. No server is started here.
import { installProgram, works } from './install-program.mjs';

const MARIADB = {
  name: 'MariaDB server',
  managers: [
    {
      program: 'apt-get',
      asRoot: true,
      steps: [
        ['update', '-q'],
        ['install', '-y', '-q', '--no-install-recommends', 'mariadb-server'],
      ],
    },
    { program: 'apk', asRoot: true, steps: [['add', 'mariadb']] },
    { program: 'dnf', asRoot: true, steps: [['install', '-y', 'mariadb-server']] },
    { program: 'brew', asRoot: false, steps: [['install', 'mariadb']] },
  ],
  byHand: 'Install MariaDB 10.10 or later by hand, so that mariadbd and mariadb-install-db are in the PATH.',
  isInstalled: () => works('mariadbd', '--version'),
};

if (!MARIADB.isInstalled()) installProgram(MARIADB);
