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
