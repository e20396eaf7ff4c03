export const bigintTooLong = (mostDigits: number) =>
  `Expected a bigint of at most ${mostDigits} digits, got a longer one. Pass the id as text.`;

export const notText = (bytes: number) =>
  `Expected text, since this layout hashes the characters of a string and not its bytes, got ${bytes} bytes. Pass ` +
  'the id as a string.';

export const notAnInteger = (kind: string, range: string, got: string) =>
  `Expected ${kind} (a number, a bigint or decimal text, ${range}), got ${got}. Pass the integer that the peer adds.`;
