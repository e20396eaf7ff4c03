import { createReadStream } from 'node:fs';
import { count, describeError, plural } from 'nestjs-bloom/internal';
import { planFilter } from 'nestjs-bloom/filter';
import { LookupTally } from './access-log/lookup-tally.js';
import { logLines } from './access-log/log-lines.js';
import { NO_REQUEST, requestIn } from './access-log/logged-request.js';
import { idOfRoute } from './access-log/route.js';
import { CliError, EXIT, usageError } from './cli-error.js';
import {
  LOG_EXPECTED,
  logNotRead,
  noLookups,
  noRequests,
  unreadableLine,
  wrongNumber,
} from './cli.messages.js';
import { numberOf } from './plan-command.js';
import type { Terminal } from './terminal.js';
import { bytes, memoryPlace, share } from './texts.js';

export interface EstimateWords {
  readonly route: string;
  readonly missing: string;
  readonly ids?: string;
  readonly skip?: boolean;
  readonly json?: boolean;
}

/** That of a filter without the option. */
const ERROR_RATE = 0.001;
const STDIN = '-';

/** Says from access logs what a guard of a route would save. */
export async function estimate(
  terminal: Terminal,
  files: readonly string[],
  { route, missing, ids, skip = false, json }: EstimateWords,
): Promise<number> {
  const statuses = new Set(missing.split(',').map(statusOf));
  const tally = new LookupTally(idOfRoute(route), statuses);
  const plan =
    ids === undefined ? undefined : planFilter({ capacity: numberOf(ids, IDS), errorRate: ERROR_RATE });
  const read = { lines: 0, requests: 0, unreadable: 0, firstPath: '' };
  for (const file of files.length > 0 ? files : [STDIN]) await readLog(file, tally, read, skip);
  if (read.requests === 0) throw new CliError(noRequests(read.lines));
  if (tally.lookups === 0) throw new CliError(noLookups(route, read.requests, read.firstPath));
  const found = {
    route,
    ...read,
    lookups: tally.lookups,
    missing: tally.missing,
    missingShare: tally.missing / tally.lookups,
    distinctMissing: tally.distinct,
    isDistinctComplete: tally.isDistinctComplete,
    busiestMinute: tally.busiest,
    otherAnswers: Object.fromEntries(tally.otherAnswers),
    errorRate: ERROR_RATE,
    saved: Math.floor(tally.missing * (1 - ERROR_RATE)),
    ids: plan?.capacity,
    bytes: plan?.bytes,
  };
  if (json) terminal.json(found);
  else printEstimate(terminal, found);
  return EXIT.fine;
}

const IDS = 'the number of ids that exist, such as 1e6 or 1_000_000';

async function readLog(
  file: string,
  tally: LookupTally,
  read: { lines: number; requests: number; unreadable: number; firstPath: string },
  skip: boolean,
): Promise<void> {
  if (file === STDIN && process.stdin.isTTY) throw usageError(LOG_EXPECTED);
  const input = file === STDIN ? process.stdin : createReadStream(file);
  // A file that cannot be read says so with its first chunk.
  let failure: unknown;
  input.once('error', (error: unknown) => (failure = error));
  try {
    for await (const { text, place } of logLines(input, file === STDIN ? 'stdin' : file)) {
      read.lines++;
      const request = requestIn(text);
      if (request === undefined && !skip) throw new CliError(unreadableLine(place, text));
      if (request === undefined) read.unreadable++;
      if (request === undefined || request === NO_REQUEST) continue;
      if (read.requests++ === 0) read.firstPath = request.path;
      tally.add(request);
    }
  } catch (error) {
    throw failure === undefined ? error : usageError(logNotRead(file, describeError(failure)));
  }
}

function statusOf(text: string): number {
  const status = Number(text);
  if (/^\d{3}$/.test(text.trim())) return status;
  throw usageError(wrongNumber('--missing to list statuses, such as 404,410', text));
}

function printEstimate(
  terminal: Terminal,
  found: {
    readonly route: string;
    readonly lines: number;
    readonly unreadable: number;
    readonly lookups: number;
    readonly missing: number;
    readonly missingShare: number;
    readonly distinctMissing: number;
    readonly isDistinctComplete: boolean;
    readonly busiestMinute: LookupTally['busiest'];
    readonly otherAnswers: Readonly<Record<string, number>>;
    readonly saved: number;
    readonly ids: number | undefined;
    readonly bytes: number | undefined;
  },
): void {
  const { route, lines, unreadable, lookups, missing, busiestMinute: busiest, otherAnswers } = found;
  const others = Object.entries(otherAnswers).map(([status, times]) => `${count(times)} × ${status}`);
  terminal.print(
    terminal.styled(
      'bold',
      `${route}: ${share(found.missingShare)} of the lookups are of ids that do not exist`,
    ),
  );
  terminal.list([
    [
      'read',
      `${plural(lines, 'line')}${unreadable > 0 ? `, ${count(unreadable)} of them not readable` : ''}`,
    ],
    ['lookups', count(lookups)],
    [
      'missing',
      `${plural(missing, 'lookup')} of ${found.isDistinctComplete ? '' : 'more than '}${plural(found.distinctMissing, 'distinct id')}`,
    ],
    [
      'busiest',
      busiest &&
        `${count(busiest.missing)} of ${plural(busiest.lookups, 'lookup')} missing (${share(busiest.missing / busiest.lookups)}), ${busiest.minute}`,
    ],
    [
      'guard saves',
      `${count(found.saved)} of ${plural(lookups, 'lookup')} from the database, at an error rate of ${share(ERROR_RATE)}`,
    ],
    [
      'filter costs',
      found.bytes === undefined
        ? 'give --ids with the number of ids that exist'
        : `${bytes(found.bytes)} for ${plural(found.ids!, 'id')}, ${memoryPlace(found.bytes)}`,
    ],
    [
      'not counted',
      others.length > 0 ? `${others.join(', ')}: these answers do not say whether the id exists` : undefined,
    ],
  ]);
}
