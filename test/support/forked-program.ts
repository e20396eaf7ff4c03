import { type ChildProcess, fork } from 'node:child_process';
import { watch } from './redis-server.js';

const TYPESCRIPT = ['--no-warnings=ExperimentalWarning', '--import', '@swc-node/register/esm-register'];
const VARIABLE = 'BLOOM_FORKED_PROGRAM';

/**
 * A program of this repository in a process of its own, which ends with this one. They talk by messages.
 *
 * @param hasSession whether it has a session of its own, as a service has: some kernels share the processor
 * between sessions
 */
export function forkProgram(path: string, options: unknown, { hasSession = false } = {}): ChildProcess {
  const child = fork(path, {
    execArgv: path.endsWith('.ts') ? TYPESCRIPT : [],
    env: { ...process.env, NODE_OPTIONS: '', [VARIABLE]: JSON.stringify(options) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: hasSession,
  });
  // It may be paused when this process ends.
  watch(child);
  return child;
}

/** In such a process: what it was started with. */
export function forkedOptions<Options>(): Options {
  return JSON.parse(process.env[VARIABLE] ?? '{}') as Options;
}
