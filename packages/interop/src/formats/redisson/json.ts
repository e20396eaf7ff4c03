import type { ByteSink } from '../id/byte-sink.js';

const QUOTE = '"';
const ESCAPED: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
};

/** Text as Jackson 2 writes it: JSON, with surrogates escaped, paired or not, and escapes in upper case. */
export function putJsonString(text: string, sink: ByteSink): void {
  sink.putByte(QUOTE.charCodeAt(0));
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (!isEscaped(text.charCodeAt(i))) continue;
    if (start < i) sink.putString(text.slice(start, i));
    sink.putString(ESCAPED[text[i]!] ?? escapedUnit(text.charCodeAt(i)));
    start = i + 1;
  }
  sink.putString(start === 0 ? text : text.slice(start));
  sink.putByte(QUOTE.charCodeAt(0));
}

function isEscaped(unit: number): boolean {
  if (unit > 0x22 && unit < 0xd800) return unit === 0x5c;
  return unit < 0x20 || unit === 0x22 || (unit & 0xf800) === 0xd800;
}

function escapedUnit(unit: number): string {
  return `\\u${unit.toString(16).toUpperCase().padStart(4, '0')}`;
}
