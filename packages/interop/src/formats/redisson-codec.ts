import { BloomConfigError, type BloomId } from 'nestjs-bloom/filter';
import type { ByteSink } from './byte-sink.js';
import { IntegerId, putTextOrBytes, toText } from './peer-id.js';
import { wrongCodec } from './formats.messages.js';

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
function putJsonString(text: string, sink: ByteSink): void {
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

// The numbers of the classes where none are registered by hand.
const INTEGER_CLASS = 2;
const STRING_CLASS = 3;
const LONG_CLASS = 9;

const SHORT_STRING = 32;
const MORE = 0x80;

/**
 * Class number; then ASCII of 2 to 32 characters with the last one marked, or the number of UTF-16 units and
 * each of them.
 */
function putKryoString(text: string, sink: ByteSink): void {
  sink.putByte(STRING_CLASS);
  const { length } = text;
  if (length > 1 && length <= SHORT_STRING && sink.putMarkedAscii(text)) return;
  putLengthHead(length + 1, sink);
  sink.putCodeUnits(text);
}

/**
 * Class number, then the value with its sign in the lowest bit, in groups of 7 bits; the ninth byte has 8.
 */
function putKryoLong(valueHigh: number, valueLow: number, sink: ByteSink): void {
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
function putKryoInteger(value: number, sink: ByteSink): void {
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

/** Redisson's name of a codec; `Kryo5Codec` is its default since 3.19.0. */
export type RedissonCodec =
  'StringCodec' | 'LongCodec' | 'ByteArrayCodec' | 'Kryo5Codec' | 'JsonJacksonCodec';

/** The class of the elements in Java, which Kryo and Jackson write down with them. */
export type RedissonType = 'String' | 'Long' | 'Integer';

/** What the bits of an id depend on, beside the size. */
export interface RedissonSettings {
  /** The value codec of the filter. */
  readonly codec: RedissonCodec;
  /** Default `String`. */
  readonly type?: RedissonType | undefined;
}

/** Puts the bytes that the codec makes of an id. */
export type Encoder = (id: BloomId, sink: ByteSink) => void;

/** @throws {BloomConfigError} when there is no such codec or type. */
export function encoderOf({ codec, type = 'String' }: RedissonSettings): Encoder {
  const integer = new IntegerId();
  switch (`${codec}/${type}`) {
    case 'StringCodec/String':
    case 'StringCodec/Long':
    case 'StringCodec/Integer':
    case 'LongCodec/String':
    case 'LongCodec/Long':
    case 'LongCodec/Integer':
      return (id, sink) => putTextOrBytes(id, sink, 'netty');
    case 'ByteArrayCodec/String':
      return (id, sink) => putTextOrBytes(id, sink, '?');
    case 'Kryo5Codec/String':
      return (id, sink) => putKryoString(toText(id), sink);
    case 'Kryo5Codec/Long':
      return (id, sink) => {
        integer.readLong(id);
        putKryoLong(integer.high, integer.low, sink);
      };
    case 'Kryo5Codec/Integer':
      return (id, sink) => {
        integer.readInteger(id);
        putKryoInteger(integer.low, sink);
      };
    case 'JsonJacksonCodec/String':
      return (id, sink) => putJsonString(toText(id), sink);
    case 'JsonJacksonCodec/Long':
      return (id, sink) => {
        integer.readLong(id);
        sink.putString(`["java.lang.Long",${id}]`);
      };
    case 'JsonJacksonCodec/Integer':
      return (id, sink) => {
        integer.readInteger(id);
        sink.putString(String(id));
      };
    default:
      throw new BloomConfigError(wrongCodec(codec, type));
  }
}
