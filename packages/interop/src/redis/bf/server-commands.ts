import { BloomConfigError } from 'nestjs-bloom/filter';
import { isRefusal, isUnknownCommand } from 'nestjs-bloom/internal';
import type { BfScripts } from './bf-scripts.js';
import { commandsMissing } from './bf.messages.js';

const NEEDED = ['BF.RESERVE', 'BF.INSERT', 'BF.MEXISTS', 'BF.INFO'];
const LOAD = 'BF.LOADCHUNK';
const TRIED = [...NEEDED, LOAD];

/** What the server can do with filters of `BF.*` commands. */
export interface ServerCommands {
  /**
   * Whether a filter may be pushed as it is in memory; else its ids have to be added one by one
   * (valkey-bloom).
   */
  readonly canLoad: boolean;
}

/** @throws {BloomConfigError} when the server has no such filters. */
export async function askCommands(scripts: BfScripts, filter: string): Promise<ServerCommands> {
  const answers = await scripts.askCommands(TRIED);
  const errors = new Map(TRIED.map((command, i) => [command, answers[i] ?? '']));
  const missing = NEEDED.filter((command) => isUnknownCommand(errors.get(command)!));
  if (missing.length > 0) {
    throw new BloomConfigError(commandsMissing(filter, missing, errors.get(missing[0]!)!));
  }
  return { canLoad: !isRefusal(errors.get(LOAD)!) };
}
