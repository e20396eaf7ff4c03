import { StringDecoder } from 'node:string_decoder';
import { CliError } from '../cli-error.js';
import { lineTooLong } from '../cli.messages.js';

export interface LogLine {
  readonly text: string;
  /** `access.log:17`, for messages. */
  readonly place: string;
}

const LONGEST_LINE = 65_536;

/** Lines that are not empty, one at a time. */
export async function* logLines(
  input: AsyncIterable<Buffer | string>,
  name: string,
): AsyncGenerator<LogLine> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let number = 0;
  const read = (text: string): LogLine => {
    const place = `${name}:${++number}`;
    if (text.length > LONGEST_LINE) throw new CliError(lineTooLong(place, LONGEST_LINE));
    return { text: text.trimEnd(), place };
  };
  for await (const chunk of input) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.write(chunk))).split('\n');
    rest = lines.pop()!;
    yield* lines.map(read).filter(({ text }) => text !== '');
    if (rest.length > LONGEST_LINE) read(rest);
  }
  if (rest.trim() !== '') yield read(rest);
}
