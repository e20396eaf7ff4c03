import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { InstalledPackage } from './installed-package.js';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly result: Promise<CommandResult>;
  /** What it has written to both of its outputs so far. */
  output(): string;
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: Buffer;
  /** In a terminal of its own, as a person has it; both outputs are one then. */
  readonly terminal?: boolean;
}

/** Runs the command line in the folder of the application, on pipes or in a pseudo-terminal of python3. */
export function start(
  installed: Pick<InstalledPackage, 'folder' | 'bin'>,
  words: readonly string[],
  { env = {}, input, terminal = false }: CommandOptions = {},
): RunningCommand {
  const node = [process.execPath, installed.bin, ...words];
  const [program, ...args] = terminal ? ['python3', '-c', PSEUDO_TERMINAL, ...node] : node;
  const { NODE_OPTIONS: _, REDIS_URL: __, NO_COLOR: ___, FORCE_COLOR: ____, ...inherited } = process.env;
  const child = spawn(program!, args, {
    cwd: installed.folder,
    env: { ...inherited, TERM: 'xterm', ...env },
    stdio: 'pipe',
  });
  const outputs = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (outputs.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (outputs.stderr += chunk.toString()));
  child.stdin.on('error', () => {});
  if (input) child.stdin.end(input);
  const result = once(child, 'close').then(([code]) => ({ code: code as number | null, ...outputs }));
  return { child, result, output: () => outputs.stdout + outputs.stderr };
}

export function run(
  installed: Pick<InstalledPackage, 'folder' | 'bin'>,
  words: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return start(installed, words, options).result;
}

/** A terminal of 120 columns. Ends as its child does, and passes signals on. */
const PSEUDO_TERMINAL = `
import fcntl, os, pty, signal, struct, sys, termios
pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', 30, 120, 0, 0))
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, frame: os.kill(pid, number))
while True:
    try:
        chunk = os.read(master, 65536)
    except OSError:
        break
    if not chunk:
        break
    os.write(1, chunk)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) % 256)
`;
