import { plural, printed } from 'nestjs-bloom/internal';

export const noAdoptWithSource = (layout: string, adopt: unknown) =>
  `${layout}(): expected no adopt with a source, got ${printed(adopt)}: the filter is made by its first rebuild, and never taken as it is. ` +
  'Leave out one of them.';

export const noAdoptWithoutKey = (layout: string, adopt: unknown) =>
  `${layout}(): expected no adopt without a key, got ${printed(adopt)}: the filter has a key of its own, which no other system fills. ` +
  'Name the key of the other systems, or leave it out.';

export const hasNoRebuild = (layout: string, option: string, got: unknown) =>
  `${layout}(): expected no ${option} without a source, got ${printed(got)}: it says what a rebuild does, and the filter has none. ` +
  'Give it a source, or leave it out.';

export const noExpansion = (layout: string) =>
  `${layout}(): expected expansion to be at least 1, got 0. Set nonScaling: true for a filter that does not grow.`;

export const NOTHING_ABSORBED = 'Nothing was absorbed.';

export const bigintTooLong = (mostDigits: number) =>
  `Expected a bigint of at most ${mostDigits} digits, got a longer one. Pass the id as text.`;

export const notText = (bytes: number) =>
  `Expected text, since this layout hashes the characters of a string and not its bytes, got ${bytes} bytes. Pass ` +
  'the id as a string.';

export const notAnInteger = (kind: string, range: string, got: string) =>
  `Expected ${kind} (a number, a bigint or decimal text, ${range}), got ${got}. Pass the integer that the peer adds.`;

export const wrongDump = (dump: string, expected: string, got: string, command: string) =>
  `Expected ${dump} with ${expected}, got ${got}. Pass every reply of ${command}, each with the iterator that it had.`;

export const changedWhileDumped = (dump: string, expected: string, got: string) =>
  `Expected ${dump} of one moment, with ${expected}, got ${got}. The filter was changed while it was dumped: dump a copy ` +
  'that nothing writes to, made by DUMP of the key and RESTORE under another name (COPY is refused for such keys).';

interface Settings {
  readonly kind: string;
  readonly bits: number;
  readonly hashCount: number;
}

const printedSettings = ({ kind, bits, hashCount }: Settings) => `${kind}, ${bits} bits, ${hashCount} hashes`;

export const otherSettings = (expected: Settings, got: Settings) =>
  `Expected a filter with the settings of this one (${printedSettings(expected)}), got others (${printedSettings(got)}). ` +
  'Build both alike, with the same encoding of ids.';

export const tooLargeForMemory = (mostBytes: number, bytes: number) =>
  `Expected a filter of at most ${mostBytes} bytes in this process, got one of ${bytes}. Use fewer bits, or split ` +
  'the ids over several filters.';

export const stringTooLong = (mostBytes: number, bits: number, bytes: number) =>
  `Expected a string of at most ${mostBytes} bytes for a filter of ${bits} bits, got ${bytes}. Use the number of bits ` +
  'that the peer uses.';

export const bitsBehindTheLast = (lastBit: number) =>
  `Expected no bits behind bit ${lastBit}, got some. Use the number of bits that the peer uses.`;

export const tooManyTables = (mostTables: number, tables: number) =>
  `Expected at most ${mostTables} tables in a cuckoo filter that is to take ids, got ${tables}. Make a larger ` +
  'one for all ids.';

export const fullAndNotGrowing = (ids: number) =>
  `Expected room for one more id in a cuckoo filter that does not grow, found none beside ${plural(ids, 'id')}. Make a larger one, ` +
  'or one with an expansion.';

export const tableTooLarge = (mostBytes: number, buckets: number, bucketSize: number) =>
  `Expected a further table of at most ${mostBytes} bytes, got one of ${buckets} buckets of ` +
  `${bucketSize}. Make a new filter for all ids.`;

export const wrongCuckooHeader = (expected: string, got: string) =>
  `Expected the header of a cuckoo filter's dump to have ${expected}, got ${got}. Pass the chunks as CF.SCANDUMP replied them.`;

export const cuckooTooLarge = (capacity: number, errorRate: number, mostBytes: number) =>
  `A cuckoo filter of ${capacity} ids at an error rate of ${errorRate} needs more than ${mostBytes} bytes, which is ` +
  'the limit. Lower the capacity, raise the error rate, or use another layout: fingerprints have one byte.';

export const wrongBuckets = (buckets: number) =>
  `Expected buckets to be a power of two, got ${buckets}. Use that of CF.INFO.`;

export const goZeroTooLarge = (mostBits: number, ids: number, errorRate: number) =>
  `Expected a filter of at most ${mostBits} bits, which is what Redis holds, got a larger one for ${ids} ids at an error ` +
  `rate of ${errorRate}. Lower the capacity, raise the error rate, or split the ids over several filters.`;

export const wrongGeometry = (mostHashes: number, bits: number, hashCount: number) =>
  `Expected bits to be a multiple of 64, at most 64 * (2^31 - 1), and hashCount at most ${mostHashes}, got ` +
  `${bits} bits and ${hashCount} hashes. Take them from guava.size() or from a dump.`;

export const wrongGuavaSize = (
  mostHashes: number,
  bits: number,
  hashCount: number,
  capacity: number,
  errorRate: number,
) =>
  `Expected a filter of 1 to 64 * (2^31 - 1) bits and at most ${mostHashes} hashes, got ${bits} bits and ` +
  `${hashCount} hashes for ${capacity} ids at an error rate of ${errorRate}. Choose others; Guava refuses them too.`;

export const tooLargeForRedis = (most: number, bytes: number, capacity: number, errorRate: number) =>
  `guava: expected a filter of at most ${most} bytes, which a string of Redis holds, got ${bytes} bytes for ${capacity} ids at an error rate of ` +
  `${errorRate}. Choose fewer ids or more errors, or the layout blocked.`;

export const dumpTooShort = (leastBytes: number, bytes: number) =>
  `Expected a dump of Guava, at least ${leastBytes} bytes, got ${bytes}. Pass all that writeTo wrote.`;

export const wrongStrategy = (got: number) =>
  `Expected strategy 0 or 1 of Guava, got ${got}. Is this what BloomFilter.writeTo wrote? Java serialisation is ` +
  'another format.';

export const emptyDump = (hashCount: number, words: number) =>
  `Expected at least one hash and one word in a dump of Guava, got ${hashCount} and ${words}. Write the dump again.`;

export const dumpCutShort = (end: number, words: number, bytes: number) =>
  `Expected ${end} bytes for the ${words} words of this dump of Guava, got ${bytes}: it was cut short. Pass all ` +
  'that writeTo wrote.';

export const fullAndNotScaling = (capacity: number) =>
  `Expected at most ${plural(capacity, 'id')} in a filter that does not scale, got one more. Make a larger one, or one ` +
  'that scales.';

export const linkTooLarge = (mostBytes: number, capacity: number, errorRate: number) =>
  `Expected a further link of at most ${mostBytes} bytes, got one for ${capacity} ids at an error rate of ` +
  `${errorRate}. Make a new filter for all ids.`;

export const wrongRedisBloomHeader = (expected: string, got: string) =>
  `Expected the header of a RedisBloom dump to have ${expected}, got ${got}. Pass the chunks as BF.SCANDUMP replied them; ` +
  'dumps of RedisBloom 2.0 and of valkey-bloom are other formats.';

export const scalesAndDoesNot = (expansion: number) =>
  `Expected a filter that scales, or one without expansion, got nonScaling and expansion ${expansion}. Leave one out.`;

export const wrongCodec = (codec: unknown, type: unknown) =>
  `Expected a codec of Redisson (StringCodec, LongCodec, ByteArrayCodec, Kryo5Codec or JsonJacksonCodec) and a type that ` +
  `goes with it (String, Long or Integer), got ${printed(codec)} and ${printed(type)}. Name those of the Java side.`;

export const wrongConfig = (field: string, expected: string, got: string) =>
  `Expected ${field} of Redisson's config hash to be ${expected}, got ${got}. Read all fields of the config key; if they are ` +
  'damaged, delete the filter and initialise it again.';

export const wrongRedissonErrorRate = (errorRate: unknown) =>
  `Expected errorRate to be from 0 to 1, got ${printed(errorRate)}.`;

export const wrongRedissonSize = (mostBits: number, bits: number, capacity: number, errorRate: number) =>
  `Expected a filter of 1 to ${mostBits} bits, got ${bits} for ${capacity} ids at an error rate of ${errorRate}. ` +
  'Choose others; Redisson refuses them too.';
