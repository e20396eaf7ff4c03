// Installs a program that the tests need with the package manager of the system.
import { spawnSync } from 'node:child_process';

export function works(program, ...args) {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

export function fail({ name, byHand }, reason) {
  console.error(`The tests need a ${name}. ${reason}\n${byHand}`);
  process.exit(1);
}

/** Ends the process when the program cannot be installed, and says what to do by hand. */
export function installProgram(wanted) {
  const { name, managers, isInstalled } = wanted;
  const manager = managers.find(({ program }) => works(program, '--version'));
  if (!manager) {
    const programs = managers.map(({ program }) => program).join(', ');
    fail(wanted, `None is here, and none of ${programs} to install it.`);
  }
  const { program, asRoot, steps } = manager;
  let prefix = [];
  if (asRoot && process.getuid?.() !== 0) {
    if (!works('sudo', '-n', 'true')) {
      fail(wanted, `None is here, and ${program} needs root: sudo is missing or asks for a password.`);
    }
    prefix = ['sudo', '-n'];
  }
  for (const step of steps) {
    const [command, ...args] = [...prefix, program, ...step];
    console.error(`No ${name} found. Running: ${[command, ...args].join(' ')}`);
    const { status, error } = spawnSync(command, args, {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    // "apt-get update" fails for any one source of packages, also when the program is in another.
    if (status !== 0 && step[0] !== 'update') {
      fail(wanted, `"${[command, ...args].join(' ')}" failed: ${error?.message ?? `exit code ${status}`}.`);
    }
  }
  if (!isInstalled()) fail(wanted, `${program} installed it, but it is not found.`);
}
