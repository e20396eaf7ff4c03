import { plural, withHelp } from 'nestjs-bloom/internal';
import { EXIT } from './cli-error.js';
import type { Terminal } from './terminal.js';

/** `note`: worth knowing, and nothing to do. */
export type Severity = 'ok' | 'note' | 'warning' | 'error';

/** One thing that was looked at. */
export interface Finding {
  readonly severity: Severity;
  readonly about: string;
  readonly text: string;
}

const STYLES = { ok: 'green', note: 'dim', warning: 'yellow', error: 'red' } as const;

/** Prints findings; the exit code says how bad the worst is. */
export function printFindings(
  terminal: Terminal,
  findings: readonly Finding[],
  json: boolean | undefined,
): number {
  const numberOf = (severity: Severity) => findings.filter((one) => one.severity === severity).length;
  const [errors, warnings] = [numberOf('error'), numberOf('warning')];
  if (json) terminal.json({ errors, warnings, findings });
  else {
    const width = Math.max(...findings.map(({ about }) => about.length));
    for (const { severity, about, text } of findings) {
      terminal.print(
        `${terminal.styled(STYLES[severity], severity.padEnd(7))}  ${about.padEnd(width)}  ${withHelp(text)}`,
      );
    }
    terminal.print(`${plural(errors, 'error')}, ${plural(warnings, 'warning')}`);
  }
  return errors > 0 ? EXIT.usage : warnings > 0 ? EXIT.failed : EXIT.fine;
}
