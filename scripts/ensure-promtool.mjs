// "npm run promtool": installs promtool, the program of Prometheus that checks metrics and alert rules. The
// tests that need it say that they are skipped without it. No server is started here.
import { installProgram, works } from './install-program.mjs';

const PROMTOOL = {
  name: 'promtool',
  managers: [
    {
      program: 'apt-get',
      asRoot: true,
      steps: [
        ['update', '-q'],
        ['install', '-y', '-q', '--no-install-recommends', 'prometheus'],
      ],
    },
    { program: 'apk', asRoot: true, steps: [['add', 'prometheus']] },
    { program: 'brew', asRoot: false, steps: [['install', 'prometheus']] },
  ],
  byHand:
    'Install Prometheus 2.40 or later by hand, so that promtool is in the PATH: https://prometheus.io/download/.',
  isInstalled: () => works('promtool', '--version'),
};

if (!PROMTOOL.isInstalled()) installProgram(PROMTOOL);
