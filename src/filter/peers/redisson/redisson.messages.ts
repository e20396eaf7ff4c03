import { printed } from '../../../common/index.js';

export const wrongCodec = (codec: unknown, type: unknown) =>
  `Expected a codec of Redisson (StringCodec, LongCodec, ByteArrayCodec, Kryo5Codec or JsonJacksonCodec) and a type that ` +
  `goes with it (String, Long or Integer), got ${printed(codec)} and ${printed(type)}. Name those of the Java side.`;

export const wrongConfig = (field: string, expected: string, got: string) =>
  `Expected ${field} of Redisson's config hash to be ${expected}, got ${got}. Read all fields of the config key; if they are ` +
  'damaged, delete the filter and initialise it again.';

export const wrongErrorRate = (errorRate: unknown) =>
  `Expected errorRate to be from 0 to 1, got ${printed(errorRate)}.`;

export const wrongSize = (mostBits: number, bits: number, capacity: number, errorRate: number) =>
  `Expected a filter of 1 to ${mostBits} bits, got ${bits} for ${capacity} ids at an error rate of ${errorRate}. ` +
  'Choose others; Redisson refuses them too.';
