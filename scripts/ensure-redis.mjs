// Run by "npm test" before Jest: the tests need a redis-server program. Silent when there is one; otherwise
// it is installed with the package manager of the system. No server is started here.
import { fail, installProgram, works } from './install-program.mjs';

const MANAGERS = [
  {
    program: 'apt-get',
    asRoot: true,
    steps: [
      ['update', '-q'],
      ['install', '-y', '-q', 'redis-server'],
    ],
  },
  { program: 'apk', asRoot: true, steps: [['add', 'redis']] },
  { program: 'dnf', asRoot: true, steps: [['install', '-y', 'redis']] },
  { program: 'brew', asRoot: false, steps: [['install', 'redis']] },
];

const BY_HAND =
  'Install Redis 6.2 or later by hand (Debian, Ubuntu: "sudo apt-get install redis-server"; macOS: "brew install redis"; ' +
  'Alpine: "apk add redis"; Fedora: "sudo dnf install redis"; Windows: run the tests in WSL), or set the environment ' +
  'variable REDIS_SERVER to the path of a redis-server program. Then run the command again.';

const REDIS = {
  name: 'redis-server',
  managers: MANAGERS,
  byHand: BY_HAND,
  isInstalled: () => works('redis-server', '--version'),
};

const chosen = process.env.REDIS_SERVER;
if (chosen) {
  if (!works(chosen, '--version')) fail(REDIS, `REDIS_SERVER is "${chosen}", which does not run.`);
} else if (!REDIS.isInstalled()) {
  installProgram(REDIS);
}
