import type { BloomRebuildProgress } from 'nestjs-bloom/store';
import { count } from 'nestjs-bloom/internal';
import type { Terminal } from './terminal.js';
import { duration } from './texts.js';

/** Between two lines about ids. */
const LINE_EVERY_MS = 2000;

const PHASES: Readonly<Record<BloomRebuildProgress['phase'], string>> = {
  staging: 'staging the next generation',
  draining: 'waiting for adds under way (drainMs)',
  scanning: 'reading ids',
  merging: 'writing to the store',
  verifying: 'verifying',
  swapping: 'going live',
};

/** Says how far a rebuild has come: a line for each phase, and one now and then while ids are read. */
export class ProgressLines {
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
