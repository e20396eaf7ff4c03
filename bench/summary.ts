import type { Row } from './harness.js';

/** What a run has judged, skipped and failed, and the exit code that follows. */
export class Summary {
  private judged = 0;
  private missed = 0;
  private readonly far: string[] = [];
  private readonly skipped: string[] = [];
  private readonly failed: string[] = [];

  note(row: Row): void {
    if (row.met === null) return;
    this.judged++;
    if (!row.met) this.missed++;
    if (row.far) this.far.push(`${row.bench}: ${row.metric}: ${row.ratio!.toPrecision(3)}, goal ${row.goal}`);
  }

  /** What was not measured, and why. */
  skip(text: string): void {
    this.skipped.push(text);
  }

  /** A benchmark whose assertion did not hold, or that ended early. */
  fail(name: string): void {
    this.failed.push(name);
  }

  get exitCode(): 0 | 1 {
    return this.failed.length > 0 || this.far.length > 0 ? 1 : 0;
  }

  get text(): string {
    const { judged, missed, far, skipped, failed } = this;
    const lines = [judged > 0 ? `${judged - missed} of ${judged} goals met.` : 'No goal was judged.'];
    if (skipped.length > 0) lines.push('NOT MEASURED:', ...skipped.map((text) => `  ${text}`));
    if (far.length > 0) lines.push('MISSED BY MORE THAN A FIFTH:', ...far.map((text) => `  ${text}`));
    if (failed.length > 0) lines.push(`FAILED: ${failed.join(', ')}`);
    return `\n${lines.join('\n')}\n`;
  }
}
