import { count, plural } from 'nestjs-bloom/internal';
import type { FilterInspection, InspectedPart } from './inspection/index.js';
import type { Terminal } from './terminal.js';
import { bytes, moment, share } from './texts.js';

/** The worst first. */
const STATES = ['unreachable', 'newer', 'nonsense', 'missing', 'unbuilt', 'lost', 'suspect', 'ready'];

/** The state of a filter is that of its worst part. */
export function stateOfParts(parts: readonly InspectedPart[]): string {
  const states = parts.map(stateOf);
  return STATES.find((state) => states.includes(state)) ?? states[0]!;
}

/** All parts in one line. */
function textOfParts(parts: readonly InspectedPart[]): string {
  const found = parts.flatMap((part) => ('found' in part ? [part.found] : []));
  const sum = (numberOf: (one: FilterInspection) => number) =>
    found.reduce((total, one) => total + numberOf(one), 0);
  const rates = found.flatMap(({ measuredErrorRate }) => measuredErrorRate ?? []);
  const staged = found.filter(({ staging }) => staging !== undefined).length;
  const words = [
    `${count(parts.filter((part) => stateOf(part) === 'ready').length)} of ${plural(parts.length, 'part')} ready`,
    `${count(sum((one) => one.count ?? 0))} of ${plural(
      sum(({ capacity }) => capacity),
      'id',
    )}`,
    rates.length > 0 && `${share(rates.reduce((total, rate) => total + rate, 0) / rates.length)} pass`,
    bytes(sum(({ live }) => live.bytes)),
    staged > 0 && `${plural(staged, 'part')} staged`,
  ];
  return words.filter(Boolean).join(', ');
}

export function printParts(terminal: Terminal, name: string, parts: readonly InspectedPart[]): void {
  const state = stateOfParts(parts);
  terminal.print(
    `${terminal.styled('bold', name)}  ${terminal.styled(state === 'ready' ? 'green' : 'red', state)}`,
  );
  terminal.print(`  ${textOfParts(parts)}`);
  terminal.list(parts.map((part) => [`part ${part.part}`, textOf(part)]));
}

function stateOf(part: InspectedPart): string {
  return 'found' in part ? part.found.state : 'unreachable';
}

function textOf(part: InspectedPart): string {
  if (!('found' in part)) return `unreachable: ${part.error}`;
  const { state, note, count: ids, capacity, live, builds, builtAt, staging, lease, metaKey } = part.found;
  const broken = live.missing + live.damaged;
  const words = [
    note === undefined ? state : `${state}: ${note}`,
    `${count(ids ?? 0)} of ${plural(capacity, 'id')}`,
    bytes(live.bytes),
    broken > 0 && `${plural(broken, 'key')} missing or damaged`,
    `build ${count(builds)}${builtAt ? ` of ${moment(builtAt)}` : ''}`,
    staging !== undefined && 'staged',
    lease !== undefined && `lease ${lease.token.slice(0, 8)}`,
    metaKey,
  ];
  return words.filter(Boolean).join(', ');
}
