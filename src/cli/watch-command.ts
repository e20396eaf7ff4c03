import { setTimeout as delay } from 'node:timers/promises';
import { count, describeError, escaped, plural } from '../common/index.js';
import { type FilterInspection, inspectFilter } from '../store/redis/inspection/index.js';
import { EXIT } from './cli-error.js';
import { stateOfParts, textOfParts } from './inspected-parts.js';
import type { RedisSession } from './redis-session.js';
import type { Terminal } from './terminal.js';
import { bytes, duration, share } from './texts.js';

export interface WatchWords {
  readonly every: number;
  /** How often to look; undefined: until it is interrupted. */
  readonly times?: number;
}

/** Shows filters again and again: in place in a terminal, as lines elsewhere, where a line is written when something has changed. */
export async function watch(
  terminal: Terminal,
  { store }: Pick<RedisSession, 'store'>,
  names: readonly string[],
  { every, times = Infinity }: WatchWords,
): Promise<number> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const view = terminal.isInteractive ? new LiveTable(terminal) : new ChangedLines(terminal);
  try {
    for (let look = 1; look <= times && !stopping.signal.aborted; look++) {
      view.show(await Promise.all(names.map((name) => lineOf(store, name))));
      if (look < times) await delay(every, undefined, { signal: stopping.signal }).catch(() => {});
    }
    return EXIT.fine;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

interface WatchedLine {
  readonly name: string;
  readonly state: string;
  /** All that is worth a new line where lines are all there is. */
  readonly text: string;
}

/** A server that is away for a while comes back: that is what is watched for. */
async function lineOf(store: RedisSession['store'], name: string): Promise<WatchedLine> {
  try {
    const { found, parts } = await inspectFilter({ ...store.access, name }, { walkMs: 0 });
    if (parts) return { name, state: stateOfParts(parts), text: textOfParts(parts) };
    return { name, state: found.state, text: textOf(found) };
  } catch (error) {
    return { name, state: 'unreachable', text: describeError(error) };
  }
}

function textOf(found: FilterInspection): string {
  const {
    count: ids,
    capacity,
    measuredErrorRate,
    live,
    lease,
    staging,
    stagingKeys,
    builds,
    facts,
    note,
  } = found;
  const words = [
    ids !== undefined && `${count(ids)} of ${plural(capacity, 'id')}`,
    measuredErrorRate !== undefined && `${share(Number(measuredErrorRate.toPrecision(1)))} pass`,
    live.bytes > 0 && bytes(live.bytes),
    `build ${count(builds)}`,
    staging !== undefined
      ? `rebuild staged, ${bytes(stagingKeys.bytes)}`
      : lease !== undefined && facts.running === lease.token && 'rebuild begun',
    lease !== undefined && `lease ${lease.token.slice(0, 8)}`,
    facts.failures > 0 && `${facts.failures} failed in a row`,
    note,
  ];
  return words.filter(Boolean).join(', ');
}

class ChangedLines {
  private readonly last = new Map<string, string>();

  constructor(private readonly terminal: Terminal) {}

  show(lines: readonly WatchedLine[]): void {
    for (const { name, state, text } of lines) {
      const line = `${name} ${state}: ${text}`;
      if (this.last.get(name) === line) continue;
      this.last.set(name, line);
      this.terminal.print(`${new Date().toISOString()} ${line}`);
    }
  }
}

class LiveTable {
  private drawn = 0;
  private readonly since = performance.now();

  constructor(private readonly terminal: Terminal) {}

  show(lines: readonly WatchedLine[]): void {
    const { terminal } = this;
    const width = Math.max(...lines.map(({ name }) => name.length));
    const rows = lines.map(({ name, state, text }) => {
      const plain = `${name.padEnd(width)}  ${state.padEnd(11)}  `;
      // A row that wraps could not be drawn again in its place.
      const rest = escaped(text).slice(0, Math.max(0, terminal.columns - plain.length - 1));
      const style = state === 'ready' ? 'green' : 'red';
      return `${terminal.styled('bold', name.padEnd(width))}  ${terminal.styled(style, state.padEnd(11))}  ${rest}`;
    });
    rows.push(
      terminal.styled('dim', `watched for ${duration(performance.now() - this.since)}; Ctrl-C ends it`),
    );
    const up = this.drawn > 0 ? `\u001b[${this.drawn}A` : '';
    terminal.output.write(up + rows.map((row) => `\u001b[2K${terminal.escaped(row)}\n`).join(''));
    this.drawn = rows.length;
  }
}
