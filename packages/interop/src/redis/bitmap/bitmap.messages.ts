interface Positions {
  readonly bits: number;
  readonly hashCount: number;
  readonly encoding: string;
}

const WRONG_KEY = 'It was left alone: name the key of the filter in the layout, or delete this key.';

export const notAString = (key: string, type: string) =>
  `Expected key '${key}' to hold a string, got a ${type}. ${WRONG_KEY}`;

const printedPositions = ({ bits, hashCount, encoding }: Positions) =>
  `${bits} bits, ${hashCount} hashes and ids encoded as ${encoding}`;

export const otherPositions = (
  { filter, key, metaKey }: { readonly filter: string; readonly key: string; readonly metaKey: string },
  expected: Positions,
  got: Positions,
) =>
  `Filter '${filter}': expected the filter under key '${key}' to have ${printedPositions(expected)}, as the options say, got ` +
  `${printedPositions(got)}. Use the same on every side. If these options are right, stop the instances that have others and delete ` +
  `'${metaKey}'.`;

export const otherLength = (key: string, bits: number) =>
  `Expected key '${key}' to hold a filter of ${bits} bits, got a string of another size: its owner uses another number. Use the same one on ` +
  'every side.';

export const notThisFilter = (key: string, bits: number) =>
  `Expected key '${key}' to hold a filter of ${bits} bits, or nothing, got another type, a string of another size, or one without the ` +
  'settings of its owner. It was left alone: name the key of the filter and the number of bits that its owner uses, or delete the key.';

export const replacedInRebuild = (key: string) =>
  `Key '${key}' vanished or was replaced during the rebuild, and what others had added to it is not known. Rebuild again.`;

export const initialisedInRebuild = (key: string) =>
  `Another program initialised the filter '${key}' again during the rebuild, or deleted its settings. It was left alone; rebuild again.`;

export const tooFewBitsToRecognise = (key: string, minBits: number, bits: number) =>
  `Expected the filter '${key}' to have at least ${minBits} bits, got ${bits}: too few to distinguish it from another one. Initialise it for ` +
  'more ids.';

export const notWrittenByGuava = (key: string, expected: string, got: string) =>
  `Expected key '${key}' to hold what BloomFilter.writeTo writes, ${expected}, got ${got}. It was left alone: name the key of the filter, ` +
  'have its owner write it again, or delete it, and a rebuild creates it again.';

export const tooFewBitsForIds = (
  { key, bits }: { readonly key: string; readonly bits: number },
  expected: { readonly errorRate: number; readonly capacity: number },
  errorRate: number,
) =>
  `BLOOM_TOO_FEW_BITS: The ${bits} bits of key '${key}' give an error rate of ${errorRate.toPrecision(2)} at ${expected.capacity} ids, more than the ` +
  `${expected.errorRate} asked for. Use more bits on every side, or a higher error rate.`;

export const STAGING_NOT_OPEN = 'The new build is not open.';
