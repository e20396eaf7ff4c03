import { count, plural } from 'nestjs-bloom/internal';
import { CliError, EXIT } from './cli-error.js';
import { falseNegatives, nothingCounted, nothingReported } from './cli.messages.js';
import { boardsOf, inspectFilter } from './inspection/index.js';
import type { RedisSession } from './redis-session.js';
import { reportsOf } from './reports.js';
import type { Terminal } from './terminal.js';
import { bytes, memoryPlace, moment, processes, share } from './texts.js';

export interface EstimateFilterWords {
  readonly json?: boolean;
}

/** Shows what the guards of a filter save, or would in mode `shadow`, from what they have counted. */
export async function estimateFilter(
  terminal: Terminal,
  { store }: RedisSession,
  name: string,
  { json }: EstimateFilterWords,
): Promise<number> {
  const reports = reportsOf(await boardsOf({ ...store.access, name }));
  if (reports.length === 0) throw new CliError(nothingReported(name, store.access.keyPrefix));
  const sum = (counted: string) =>
    reports.reduce((all, { guards }) => all + (Number(guards[counted]) || 0), 0);
  const [absent, remembered, wrongAbsents] = [sum('absent'), sum('remembered'), sum('wrongAbsents')];
  const lookups = absent + sum('maybe') + remembered;
  if (lookups === 0) throw new CliError(nothingCounted(name, reports.length));
  const { found, parts } = await inspectFilter({ ...store.access, name }, { walkMs: 0 });
  const missing = absent - wrongAbsents + sum('foundNothing') + remembered;
  const estimated = {
    filter: name,
    processes: reports.length,
    since: new Date(Math.min(...reports.map(({ startedAt }) => startedAt))),
    modes: [...new Set(reports.map(({ mode }) => mode))].sort(),
    lookups,
    missing,
    missingShare: missing / lookups,
    saved: absent + remembered,
    unknown: sum('unknown'),
    wrongAbsents,
    bytes: (parts ?? [{ found }]).reduce((all, one) => all + ('found' in one ? one.found.live.bytes : 0), 0),
  };
  if (json) terminal.json(estimated);
  else printEstimate(terminal, estimated);
  if (wrongAbsents > 0) terminal.complain(falseNegatives(wrongAbsents));
  return EXIT.fine;
}

function printEstimate(
  terminal: Terminal,
  found: {
    readonly filter: string;
    readonly processes: number;
    readonly since: Date;
    readonly modes: readonly string[];
    readonly lookups: number;
    readonly missing: number;
    readonly missingShare: number;
    readonly saved: number;
    readonly unknown: number;
    readonly bytes: number;
  },
): void {
  const { filter, lookups, missing, saved, unknown } = found;
  terminal.print(
    terminal.styled(
      'bold',
      `${filter}: ${share(found.missingShare)} of the lookups are of ids that do not exist`,
    ),
  );
  terminal.list([
    [
      'counted',
      `by ${processes(found.processes)}, mode ${found.modes.join(', ')}, since ${moment(found.since)}`,
    ],
    ['lookups', count(lookups)],
    ['missing', plural(missing, 'lookup')],
    ['guard saves', `${count(saved)} of ${plural(lookups, 'lookup')} from the database`],
    ['filter costs', `${bytes(found.bytes)}, ${memoryPlace(found.bytes)}`],
    ['not counted', unknown > 0 ? `${plural(unknown, 'lookup')} that the filter could not judge` : undefined],
  ]);
}
