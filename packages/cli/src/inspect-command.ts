import { count, plural } from 'nestjs-bloom/internal';
import { type FilterInspection, inspectFilter, type KeyFacts } from './inspection/index.js';
import { EXIT } from './cli-error.js';
import { printParts, stateOfParts } from './inspected-parts.js';
import type { RedisSession } from './redis-session.js';
import type { Terminal } from './terminal.js';
import { bytes, duration, moment, share } from './texts.js';

export interface InspectWords {
  readonly key?: string;
  readonly json?: boolean;
  readonly walk: number;
}

/** What Redis alone says of a filter. */
export async function inspect(
  terminal: Terminal,
  { store }: RedisSession,
  name: string,
  { key, json, walk }: InspectWords,
): Promise<number> {
  const { found, parts } = await inspectFilter({ ...store.access, name, key }, { walkMs: walk });
  if (json)
    terminal.json(parts ? { name, partitions: parts.length, state: stateOfParts(parts), parts } : found);
  else if (parts) printParts(terminal, name, parts);
  else printInspection(terminal, found);
  return found.state === 'missing' ? EXIT.failed : EXIT.fine;
}

const GOOD_STATES = ['ready'];

function printInspection(terminal: Terminal, found: FilterInspection): void {
  const colour = GOOD_STATES.includes(found.state) ? 'green' : 'red';
  terminal.print(`${terminal.styled('bold', found.name)}  ${terminal.styled(colour, found.state)}`);
  if (found.note !== undefined) terminal.print(`  ${terminal.styled('yellow', found.note)}`);
  if (found.state === 'missing') return printOthers(terminal, found);
  terminal.list([
    ['layout', layoutText(found)],
    ['generation', generationText(found)],
    ['owner', found.owner ?? 'none'],
    ['ids', idsText(found)],
    ['error rate', errorRateText(found)],
    ['memory', found.generation === undefined ? 'no live generation' : keysText(found.live)],
    ['staging', found.staging === undefined ? 'none' : `${found.staging}: ${keysText(found.stagingKeys)}`],
    ['lease', leaseText(found)],
    ['builds', buildsText(found)],
    ['metadata', found.metaKey],
  ]);
  printOthers(terminal, found);
}

function printOthers(terminal: Terminal, { others, isWalkComplete, alsoFound }: FilterInspection): void {
  terminal.list([
    ...others.map((one) => [one.what, keysText(one)] as const),
    [
      'left-overs',
      others.length > 0
        ? undefined
        : isWalkComplete
          ? 'none'
          : 'not looked for to the end (--walk sets how long to look)',
    ],
    [
      'also found',
      alsoFound.length > 0 ? `metadata of layout ${alsoFound.join(', ')} under the same name` : undefined,
    ],
  ]);
}

function layoutText({ layout, hashCount, range, maxIdBytes, settings }: FilterInspection): string {
  const words = [
    layout,
    range && `1 bit for each integer from ${count(range.first)} to ${count(range.last)}`,
    hashCount !== undefined && `${plural(hashCount, 'bit')} for ${range ? 'any other' : 'an'} id`,
    maxIdBytes !== undefined && `ids up to ${plural(maxIdBytes, 'byte')}`,
    settings,
  ];
  return words.filter(Boolean).join(', ');
}

function generationText({ generation, builds, builtAt }: FilterInspection): string {
  if (generation === undefined) return builtAt ? `none; the last one was built ${moment(builtAt)}` : 'none';
  return `${generation}, build ${count(builds)}${builtAt ? `, built ${moment(builtAt)}` : ''}`;
}

function idsText({ count: ids, builtIds, capacity }: FilterInspection): string {
  const now = ids === undefined ? '' : `${count(ids)} now, `;
  return `${now}${count(builtIds)} in the last build, planned for ${count(capacity)}`;
}

function errorRateText({ errorRate, measuredErrorRate, range, fill }: FilterInspection): string {
  const ids = range ? 'absent ids outside the range pass now, none within it' : 'absent ids pass now';
  const measured = measuredErrorRate === undefined ? '' : `; ${share(measuredErrorRate)} of the ${ids}`;
  const bits = fill
    ? `, ${share(fill.share)} of the bits ${range ? 'of the range ' : ''}are set in ${plural(fill.blocks, 'sampled block')}`
    : '';
  return `${share(errorRate)} asked for${measured}${bits}`;
}

function keysText({ keys, bytes: size, missing, damaged, lifeMs }: KeyFacts): string {
  const words = [
    size > 0 && `${bytes(size)} in`,
    plural(keys, 'key'),
    missing > 0 && `(${count(missing)} missing)`,
    damaged > 0 && `(${count(damaged)} of another length)`,
    lifeMs === undefined ? keys > 0 && '(do not expire)' : `(expire in ${duration(lifeMs)})`,
  ];
  return words.filter(Boolean).join(' ');
}

function leaseText({ lease, runId }: FilterInspection): string {
  if (!lease) return 'nobody holds it: no rebuild runs';
  const life =
    lease.lifeMs === undefined
      ? 'without a life, so it counts for nothing'
      : `for ${duration(lease.lifeMs)} unless renewed`;
  const other = lease.givenBy !== '' && runId !== '' && lease.givenBy !== runId;
  return `held by ${lease.token}, ${life}${other ? '; given by another server or an earlier run, so it counts for nothing' : ''}`;
}

function buildsText({ facts, lease }: FilterInspection): string {
  const { running, beganAt, occasion, failures, dueAt } = facts;
  if (!beganAt) return 'nothing noted';
  const state = running === undefined ? 'ended' : lease?.token === running ? 'runs' : 'its lease has ended';
  const failed =
    failures > 0
      ? `; ${plural(failures, 'failure')} in a row${dueAt ? `, next attempt due ${moment(dueAt)}` : ''}`
      : '';
  return `the last one (${occasion || 'manual'}) began ${moment(beganAt)}, ${state}${failed}`;
}
