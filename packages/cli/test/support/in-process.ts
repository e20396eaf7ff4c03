import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCli } from '../../src/program.js';
import { Terminal } from '../../src/terminal.js';
import type { CommandResult } from './command.js';

/** Runs a command in this process, as on pipes or in a terminal: quicker than one of its own. */
export async function runHere(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  { isTTY = false } = {},
): Promise<CommandResult> {
  const [output, errors] = [Object.assign(new PassThrough(), { isTTY }), new PassThrough()];
  const outputs = Promise.all([text(output), text(errors)]);
  const code = await runCli(words, { terminal: new Terminal(output, errors, environment), environment });
  output.end();
  errors.end();
  const [stdout, stderr] = await outputs;
  return { code, stdout, stderr };
}
