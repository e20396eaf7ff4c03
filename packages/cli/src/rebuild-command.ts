import type { BloomRebuildError } from 'nestjs-bloom/store';
import { count, plural } from 'nestjs-bloom/internal';
import type { BloomFilter } from 'nestjs-bloom';
import { type ApplicationWords, bootApplication, filterOf } from './application.js';
import { CliError, EXIT } from './cli-error.js';
import { ProgressLines } from './progress-lines.js';
import type { Terminal } from './terminal.js';
import { bytes, duration } from './texts.js';
import { inMemoryOfTheApp, interruptedBy, rebuildInterrupted } from './cli.messages.js';

export interface RebuildWords extends ApplicationWords {
  readonly force?: boolean;
  readonly json?: boolean;
}

/** What a rebuild ends with. */
type Report = Awaited<ReturnType<BloomFilter['rebuild']>>;

/** Rebuilds one filter of an application, in this process. */
export async function rebuild(terminal: Terminal, name: string, words: RebuildWords): Promise<number> {
  const application = await bootApplication(words, (text) => terminal.complain(text));
  try {
    const filter = filterOf(application, name);
    await assertShared(filter);
    const interruption = new Interruption(terminal);
    const progress = words.json ? undefined : new ProgressLines(terminal);
    try {
      const report = await filter.rebuild({
        force: words.force ?? false,
        signal: interruption.signal,
        onProgress: (reached) => progress?.show(reached),
      });
      return printReport(terminal, name, report, words.json);
    } catch (error) {
      throw interruption.explain(name, error);
    } finally {
      interruption.close();
    }
  } finally {
    await application.close();
  }
}

/** Nobody else sees what this process has in its memory. */
async function assertShared(filter: BloomFilter): Promise<void> {
  const { store } = await filter.info();
  if (store !== 'memory') return;
  throw new CliError(inMemoryOfTheApp(filter.name));
}

function printReport(terminal: Terminal, name: string, report: Report, json: boolean | undefined): number {
  if (json) terminal.json({ filter: name, ...report });
  if (report.outcome === 'skipped') {
    if (!json) terminal.complain(`${terminal.styled('yellow', 'skipped:')} ${report.reason}`);
    return EXIT.failed;
  }
  if (json) return EXIT.fine;
  const { ids, distinctIds, idsRead, capacity, bytes: size, replans, durationMs } = report;
  terminal.print(terminal.styled('bold', `${name}: a new generation is live.`));
  terminal.list([
    ['ids', `${count(ids)}${idsRead === ids ? '' : ` of ${count(idsRead)} read`}`],
    ['different', distinctIds === ids ? undefined : `about ${count(distinctIds)}`],
    ['planned for', count(capacity)],
    ['memory', bytes(size)],
    ['time', duration(durationMs)],
    ['started again', replans > 0 ? `${plural(replans, 'time')}, for more ids than planned` : undefined],
  ]);
  return EXIT.fine;
}

/** Ctrl-C stops the run, and lets it give its lease back; a second one ends the process at once. */
class Interruption {
  private readonly controller = new AbortController();
  private readonly onSignal = (name: NodeJS.Signals) => {
    if (this.controller.signal.aborted) process.exit(EXIT.interrupted);
    this.terminal.complain(`Stopping after ${name}: the lease is given back. Once more ends at once.`);
    this.controller.abort(new Error(interruptedBy(name)));
  };

  constructor(private readonly terminal: Terminal) {
    process.on('SIGINT', this.onSignal);
    process.on('SIGTERM', this.onSignal);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  explain(name: string, error: unknown): unknown {
    const isOurs = this.signal.aborted && (error as Partial<BloomRebuildError>).reason === 'aborted';
    return isOurs ? new CliError(rebuildInterrupted(name), EXIT.interrupted) : error;
  }

  close(): void {
    process.off('SIGINT', this.onSignal);
    process.off('SIGTERM', this.onSignal);
  }
}
