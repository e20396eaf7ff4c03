// Run by "npm test" before Jest: the tests need a redis-server program. Silent when there is one; otherwise it is
// installed with the package manager of the system. No server is started here.
import { spawnSync } from 'node:child_process';

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

function works(program, ...args) {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

function fail(reason) {
  console.error(`The tests need a redis-server. ${reason}\n${BY_HAND}`);
  process.exit(1);
}

function install() {
  const manager = MANAGERS.find(({ program }) => works(program, '--version'));
  if (!manager) {
    const programs = MANAGERS.map(({ program }) => program).join(', ');
    fail(`None is on the PATH, and none of ${programs} is here to install it.`);
  }
  const { program, asRoot, steps } = manager;
  let prefix = [];
  if (asRoot && process.getuid?.() !== 0) {
    if (!works('sudo', '-n', 'true')) {
      fail(`None is on the PATH, and ${program} needs root: sudo is missing or asks for a password.`);
    }
    prefix = ['sudo', '-n'];
  }
  for (const step of steps) {
    const [command, ...args] = [...prefix, program, ...step];
    console.error(`No redis-server found. Running: ${[command, ...args].join(' ')}`);
    const { status, error } = spawnSync(command, args, {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    // "apt-get update" fails for any one source of packages, also when Redis is in another.
    if (status !== 0 && step[0] !== 'update') {
      fail(`"${[command, ...args].join(' ')}" failed: ${error?.message ?? `exit code ${status}`}.`);
    }
  }
  if (!works('redis-server', '--version')) fail(`${program} installed it, but it is not on the PATH.`);
}

const chosen = process.env.REDIS_SERVER;
if (chosen) {
  if (!works(chosen, '--version')) fail(`REDIS_SERVER is "${chosen}", which does not run.`);
} else if (!works('redis-server', '--version')) {
  install();
}
