import { BloomConfigError, type BloomId } from 'nestjs-bloom/filter';
import type { ByteSink } from '../id/byte-sink.js';
import { toText } from '../id/id-text.js';
import { IntegerId } from '../id/integer-id.js';
import { putTextOrBytes } from '../id/put-text.js';
import { putJsonString } from './json.js';
import { putKryoInteger, putKryoLong, putKryoString } from './kryo5.js';
import { wrongCodec } from '../peers.messages.js';

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
