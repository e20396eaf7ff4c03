import { hostname, userInfo } from 'node:os';
import type { BoardMode } from 'nestjs-bloom/internal';
import { CliError, EXIT, usageError } from './cli-error.js';
import { NO_BY, noSuchFilter } from './cli.messages.js';
import { boardsOf } from './inspection/index.js';
import { MODES, type ModeWord, WITHDRAW } from './mode-words.js';
import type { RedisSession } from './redis-session.js';
import { reportsOf } from './reports.js';
import type { Terminal } from './terminal.js';
import { moment, processes } from './texts.js';

export interface ModeWords {
  readonly by?: string;
  readonly key?: string;
  readonly json?: boolean;
}

const WHEN = 'within about a second; within 13 seconds in an idle process';
const NOT_FOR = 'processes that do not reach Redis, or have heartbeat: false';
const LONGEST_BY = 200;

/** Shows the mode of all processes, or sets it. */
export async function mode(
  terminal: Terminal,
  { store }: RedisSession,
  name: string,
  word: ModeWord | undefined,
  { by = personHere(), key, json }: ModeWords,
): Promise<number> {
  if (by.trim() === '' || by.length > LONGEST_BY) throw usageError(NO_BY);
  const boards = await boardsOf({ ...store.access, name, key });
  if (boards.length === 0) throw new CliError(noSuchFilter(name, store.access.keyPrefix));
  const set = word && { mode: word === WITHDRAW ? undefined : word, by };
  // An application uses one of the layouts that were found.
  const records = await Promise.all(
    boards.map(({ board, contents }) => (set ? board.setMode(set, 0) : contents.mode)),
  );
  const record = records.reduce(later);
  const modes = reportsOf(boards).map((one) => one.mode);
  if (json)
    terminal.json({
      name,
      mode: record?.mode ?? null,
      by: record?.by,
      at: record && new Date(record.at),
      processes: modes,
    });
  else printMode(terminal, name, record, set ? undefined : modes);
  return EXIT.fine;
}

/** @param modes those of the processes; undefined: the mode was set just now, so none has it yet */
function printMode(
  terminal: Terminal,
  name: string,
  record: BoardMode | undefined,
  modes: readonly string[] | undefined,
): void {
  const isSet = record?.mode !== undefined;
  const text = isSet ? `${record.mode} for all processes` : 'no mode for all processes: each has its own';
  terminal.print(`${terminal.styled('bold', name)}  ${text}`);
  terminal.list([
    ['means', isSet ? (MODES as Readonly<Record<string, string>>)[record.mode!] : undefined],
    [isSet ? 'set' : 'withdrawn', record && `by ${record.by}, ${moment(new Date(record.at))}`],
    ['takes effect', modes ? undefined : WHEN],
    ['not in', modes ? undefined : NOT_FOR],
    ['until', isSet && !modes ? `it is set again, or: mode ${name} ${WITHDRAW}` : undefined],
    ['processes', modes && processesText(modes)],
  ]);
}

function processesText(modes: readonly string[]): string {
  if (modes.length === 0)
    return 'none reports; they do while a mode for all is set, they rebuild, or a dashboard is used';
  const counts = [...new Set(modes)]
    .sort()
    .map((one) => `${modes.filter((other) => other === one).length} ${one}`);
  return `${processes(modes.length)} reported within the last seconds: ${counts.join(', ')}`;
}

function later(one: BoardMode | undefined, other: BoardMode | undefined): BoardMode | undefined {
  return !one || (other && other.at > one.at) ? other : one;
}

function personHere(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A user of a container may have no name.
    return hostname();
  }
}
