// Run by "npm test" before Jest: the tests of the dashboard need a Chromium. Silent when there is one, or
// Chrome; otherwise it is installed with the package manager of the system. test/support/chromium.ts looks in
// the same places.
import { fail, installProgram, works } from './install-program.mjs';

const PROGRAMS = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const MANAGERS = [
  {
    program: 'apt-get',
    asRoot: true,
    steps: [
      ['update', '-q'],
      ['install', '-y', '-q', 'chromium'],
    ],
  },
  { program: 'apk', asRoot: true, steps: [['add', 'chromium']] },
  { program: 'dnf', asRoot: true, steps: [['install', '-y', 'chromium']] },
  { program: 'brew', asRoot: false, steps: [['install', '--cask', 'chromium']] },
];

const BY_HAND =
  'Install Chromium by hand (Debian: "sudo apt-get install chromium"; macOS: "brew install --cask chromium"; Alpine: "apk add chromium"; ' +
  'Fedora: "sudo dnf install chromium"; Windows: run the tests in WSL), or set the environment variable CHROMIUM to the path of a Chromium ' +
  'or Chrome. Then run the command again.';

const CHROMIUM = {
  name: 'Chromium',
  managers: MANAGERS,
  byHand: BY_HAND,
  isInstalled: () => PROGRAMS.some((program) => works(program, '--version')),
};

const chosen = process.env.CHROMIUM;
if (chosen) {
  if (!works(chosen, '--version')) fail(CHROMIUM, `CHROMIUM is "${chosen}", which does not run.`);
} else if (!CHROMIUM.isInstalled()) {
  installProgram(CHROMIUM);
}
