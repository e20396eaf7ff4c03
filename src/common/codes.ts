import type { BloomEvent } from './events.js';

const REFERENCE = 'https://github.com/nestjs-bloom/nestjs-bloom/blob/main/docs/messages.md#';
const AT_START = /^(BLOOM_[A-Z_]+): /;

/** Address of the entry that explains a code. */
export function helpOn(code: string): string {
  return REFERENCE + code.toLowerCase();
}

/** Code of an event, from its type. The text of an advice begins with its own. */
export function codeOf(event: BloomEvent): string {
  return (
    (event.type === 'advice' && codeIn(event.text)) ||
    `BLOOM_${event.type.toUpperCase().replaceAll('-', '_')}`
  );
}

function codeIn(text: string): string | undefined {
  return AT_START.exec(text)?.[1];
}

export function withoutCode(text: string): string {
  return text.replace(AT_START, '');
}

/** A text that begins with its code, and where that is explained. */
export function withHelp(text: string): string {
  const code = codeIn(text);
  return code === undefined ? text : `${text} ${helpOn(code)}`;
}
