import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green';

/** What the command line writes to, and what that can show. */
export class Terminal {
  /** Whether a person looks at the output: then lines may be drawn again in place. */
  readonly isInteractive: boolean;
  private readonly hasColours: boolean;

  constructor(
    readonly output: Writable & { readonly isTTY?: boolean; readonly columns?: number },
    readonly errors: Writable,
    environment: Readonly<Record<string, string | undefined>>,
  ) {
    this.isInteractive = output.isTTY === true && environment['TERM'] !== 'dumb';
    this.hasColours = this.isInteractive && !environment['NO_COLOR'];
  }

  get columns(): number {
    return this.output.columns ?? 80;
  }

  print(text: string): void {
    this.output.write(`${text}\n`);
  }

  complain(text: string): void {
    this.errors.write(`${text}\n`);
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

  json(value: unknown): void {
    this.print(JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one), 2));
  }
}
