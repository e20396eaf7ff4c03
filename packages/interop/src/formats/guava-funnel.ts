import type { BloomId } from 'nestjs-bloom/filter';
import type { Expectation } from 'nestjs-bloom/internal';
import type { ByteSink } from './byte-sink.js';
import { IntegerId, putTextOrBytes, toText } from './peer-id.js';

/** A funnel of one's own: puts the pieces of an id into the sink, one after another. */
export type CustomFunnel = (id: BloomId, sink: ByteSink) => void;

/** Guava's name of a funnel (`stringFunnel` is the one of UTF-8), or a funnel of one's own. */
export type GuavaFunnel =
  'stringFunnel' | 'unencodedCharsFunnel' | 'byteArrayFunnel' | 'longFunnel' | 'integerFunnel' | CustomFunnel;

/** How a funnel takes an id apart. */
export function funnelOf(funnel: GuavaFunnel): CustomFunnel {
  if (typeof funnel === 'function') return funnel;
  const integer = new IntegerId();
  switch (funnel) {
    case 'stringFunnel':
    case 'byteArrayFunnel':
      return (id, sink) => putTextOrBytes(id, sink, '?');
    case 'unencodedCharsFunnel':
      return (id, sink) => sink.putUnencodedChars(toText(id));
    case 'longFunnel':
      return (id, sink) => {
        integer.readLong(id);
        sink.putLong(integer.high, integer.low);
      };
    case 'integerFunnel':
      return (id, sink) => {
        integer.readInteger(id);
        sink.putInt(integer.low);
      };
  }
}

const FUNNELS: readonly unknown[] = [
  'stringFunnel',
  'unencodedCharsFunnel',
  'byteArrayFunnel',
  'longFunnel',
  'integerFunnel',
] satisfies GuavaFunnel[];

export const FUNNEL: Expectation = [
  `one of ${FUNNELS.join(', ')}, or a function that puts the pieces of an id`,
  (funnel) => typeof funnel === 'function' || FUNNELS.includes(funnel),
];
