import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { escaped } from 'nestjs-bloom/internal';

type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green';

/** The codes that `styled` writes. */
// oxlint-disable-next-line no-control-regex
const STYLE_CODES = /(\u001b\[(?:1|2|22|31|32|33|39)m)/;

/**
 * What the command line writes to, and what that can show. Names, metadata and errors may come from anybody
 * who writes to Redis: what would move the cursor or begin a line is written as `\u…`.
 */
export class Terminal {
  private readonly hasColours: boolean;

  constructor(
    readonly output: Writable & { readonly isTTY?: boolean },
    readonly errors: Writable,
    environment: Readonly<Record<string, string | undefined>>,
  ) {
    this.hasColours = output.isTTY === true && environment['TERM'] !== 'dumb' && !environment['NO_COLOR'];
  }

  /** Writes one line. */
  print(line: string): void {
    this.output.write(`${this.escaped(line)}\n`);
  }

  /** Writes a warning or an error, of one line or more. */
  complain(text: string): void {
    this.errors.write(`${this.escapedLines(text)}\n`);
  }

  /** A line with nothing in it but printable text and the styles of this terminal. */
  private escaped(line: string): string {
    const parts = this.hasColours ? line.split(STYLE_CODES) : [line];
    return parts.map((part, i) => (i % 2 === 1 ? part : escaped(part))).join('');
  }

  styled(style: Style, text: string): string {
    return this.hasColours ? styleText(style, text, { validateStream: false } as never) : text;
  }

  /** Names and values, one under the other. */
  list(rows: readonly (readonly [name: string, value: string | undefined])[]): void {
    const shown = rows.filter((row): row is [string, string] => row[1] !== undefined);
    const width = Math.max(...shown.map(([name]) => name.length)) + 2;
    for (const [name, value] of shown) this.print(`  ${this.styled('dim', name.padEnd(width))}${value}`);
  }

  /** The first row has the names of the columns. */
  table(rows: readonly (readonly string[])[]): void {
    const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
    rows.forEach((row, i) => {
      const line = row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ');
      this.print(i === 0 ? this.styled('dim', line.trimEnd()) : line.trimEnd());
    });
  }

  json(value: unknown): void {
    const text = JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one), 2);
    this.output.write(`${this.escapedLines(text)}\n`);
  }

  private escapedLines(text: string): string {
    return text
      .split('\n')
      .map((line) => this.escaped(line))
      .join('\n');
  }
}
