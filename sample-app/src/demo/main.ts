import { DEMO_SIZES, runDemoCommand } from './demo-command.js';
import { runLoadInWorker } from './load-in-worker.js';

const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());

const exitCode = await runDemoCommand({
  words: process.argv.slice(2),
  environment: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  runLoad: runLoadInWorker,
  sizes: DEMO_SIZES,
  signal: ended.signal,
});

// Not left to Node: a connection that a failed start left open would keep the process alive.
process.stdout.write('', () => process.exit(exitCode));
