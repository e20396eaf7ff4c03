export const wrongGeometry = (mostHashes: number, bits: number, hashCount: number) =>
  `Expected bits to be a multiple of 64, at most 64 * (2^31 - 1), and hashCount at most ${mostHashes}, got ` +
  `${bits} bits and ${hashCount} hashes. Take them from guava.size() or from a dump.`;

export const wrongSize = (
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
