import type { ByteSink } from '../id/byte-sink.js';

// The numbers of the classes where none are registered by hand.
const INTEGER_CLASS = 2;
const STRING_CLASS = 3;
const LONG_CLASS = 9;

const SHORT_STRING = 32;
const MORE = 0x80;

/** Class number; then ASCII of 2 to 32 characters with the last one marked, or the number of UTF-16 units and each of them. */
export function putKryoString(text: string, sink: ByteSink): void {
  sink.putByte(STRING_CLASS);
  const { length } = text;
  if (length > 1 && length <= SHORT_STRING && sink.putMarkedAscii(text)) return;
  putLengthHead(length + 1, sink);
  sink.putCodeUnits(text);
}

/** Class number, then the value with its sign in the lowest bit, in groups of 7 bits; the ninth byte has 8. */
export function putKryoLong(valueHigh: number, valueLow: number, sink: ByteSink): void {
  sink.putByte(LONG_CLASS);
  const sign = valueHigh >> 31;
  let high = ((valueHigh << 1) | (valueLow >>> 31)) ^ sign;
  let low = (valueLow << 1) ^ sign;
  for (let bytes = 1; bytes < 9 && (high !== 0 || low >>> 0 > 0x7f); bytes++) {
    sink.putByte(low | MORE);
    low = (low >>> 7) | (high << 25);
    high >>>= 7;
  }
  sink.putByte(low);
}

/** The same of 32 bits. */
export function putKryoInteger(value: number, sink: ByteSink): void {
  sink.putByte(INTEGER_CLASS);
  putGroups(((value << 1) ^ (value >> 31)) >>> 0, sink);
}

/** The first byte has 6 bits of the number, and a mark that this is a length. */
function putLengthHead(value: number, sink: ByteSink): void {
  if (value < 0x40) {
    sink.putByte(MORE | value);
    return;
  }
  sink.putByte(MORE | 0x40 | (value & 0x3f));
  putGroups(value >>> 6, sink);
}

function putGroups(value: number, sink: ByteSink): void {
  for (; value > 0x7f; value >>>= 7) sink.putByte(value | MORE);
  sink.putByte(value);
}
