/** Where a terminal shows how far the demo is. */
export interface ProgressStream {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

const BAR_WIDTH = 24;
const CLEAR_LINE = '\r\u001b[2K';

/** Lines of what was done; on a terminal also a bar of what is under way. */
export class Progress {
  private lastShownAt = -Infinity;

  constructor(private readonly stream: ProgressStream) {}

  show(label: string, share: number): void {
    const now = performance.now();
    if (!this.stream.isTTY || now - this.lastShownAt < 100) return;
    this.lastShownAt = now;
    const filled = Math.min(BAR_WIDTH, Math.round(share * BAR_WIDTH));
    this.stream.write(`${CLEAR_LINE}${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${label}`);
  }

  line(text: string): void {
    this.stream.write(`${this.stream.isTTY ? CLEAR_LINE : ''}${text}\n`);
    this.lastShownAt = -Infinity;
  }
}
