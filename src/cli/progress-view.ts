import type { MultiBar, SingleBar } from 'cli-progress';
import { type BloomRebuildProgress, count } from '../common/index.js';
import type { Terminal } from './terminal.js';
import { duration } from './texts.js';

/** Between two lines about ids, where lines are all there is. */
const LINE_EVERY_MS = 2000;
const BAR_COLUMNS = 30;

const PHASES: Readonly<Record<BloomRebuildProgress['phase'], string>> = {
  staging: 'staging the next generation',
  draining: 'waiting for adds under way (drainMs)',
  scanning: 'reading ids',
  merging: 'writing to the store',
  verifying: 'verifying',
  swapping: 'going live',
};

/** How far a rebuild has come: a bar where a person looks, lines elsewhere. */
export interface ProgressView {
  show(progress: BloomRebuildProgress): void;
  end(): void;
}

export async function progressView(terminal: Terminal): Promise<ProgressView> {
  if (!terminal.isInteractive) return new ProgressLines(terminal);
  const { default: cliProgress } = await import('cli-progress');
  const bars = new cliProgress.MultiBar({
    stream: terminal.output as NodeJS.WritableStream,
    format: (_options, { value }, payload: BarPayload) => barText(value, payload),
    hideCursor: true,
    clearOnComplete: true,
    // An interrupted rebuild gives its lease back first.
    gracefulExit: false,
    emptyOnZero: true,
  });
  return new ProgressBar(bars);
}

class ProgressLines implements ProgressView {
  private phase = '';
  private saidAt = 0;

  constructor(private readonly terminal: Terminal) {}

  show(progress: BloomRebuildProgress): void {
    const { phase } = progress;
    const now = performance.now();
    if (phase === this.phase && (phase !== 'scanning' || now - this.saidAt < LINE_EVERY_MS)) return;
    this.phase = phase;
    this.saidAt = now;
    this.terminal.print(lineText(progress));
  }

  end(): void {}
}

interface BarPayload {
  readonly text: string;
  readonly isCounted: boolean;
}

class ProgressBar implements ProgressView {
  private readonly bar: SingleBar;

  constructor(private readonly bars: MultiBar) {
    this.bar = bars.create(1, 0, { text: 'starting', isCounted: false } satisfies BarPayload);
  }

  show(progress: BloomRebuildProgress): void {
    const { phase, share = 0 } = progress;
    const isCounted = phase === 'scanning' && progress.share !== undefined;
    this.bar.update(isCounted ? share : isAfterScan(phase) ? 1 : 0, { text: lineText(progress), isCounted });
  }

  end(): void {
    this.bars.stop();
  }
}

function isAfterScan(phase: BloomRebuildProgress['phase']): boolean {
  return phase === 'merging' || phase === 'verifying' || phase === 'swapping';
}

function barText(value: number, { text, isCounted }: BarPayload): string {
  const full = Math.round(Math.min(1, value) * BAR_COLUMNS);
  const bar = `[${'='.repeat(full)}${' '.repeat(BAR_COLUMNS - full)}]`;
  return `${bar} ${isCounted ? `${Math.floor(value * 100)}% ` : ''}${text}`;
}

function lineText({ phase, idsRead, idsPerSecond, share, remainingMs }: BloomRebuildProgress): string {
  if (phase !== 'scanning') return PHASES[phase];
  const words = [
    `${PHASES.scanning}: ${count(idsRead)}`,
    share !== undefined && idsRead > 0 && `${Math.floor(share * 100)} %`,
    idsPerSecond > 0 && `${count(idsPerSecond)} a second`,
    remainingMs !== undefined && `about ${duration(remainingMs)} left`,
  ];
  return words.filter(Boolean).join(', ');
}
