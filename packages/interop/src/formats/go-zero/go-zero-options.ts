import { checkOptions, isInteger, type OptionTable } from 'nestjs-bloom/internal';
import { KEY_OPTIONS, type PeerKeyOptions, PEERS_KEY } from '../options/key-options.js';
import { MAX_STRING_BITS, MIN_STRING_BITS } from '../options/string-bits.js';

/** A filter of go-zero on the very key that go-zero uses. */
export interface GoZeroLayoutOptions extends PeerKeyOptions {
  /** As given to `bloom.New`. */
  readonly key: string;
  /** As given to `bloom.New`: stored nowhere, and silently wrong if one side has another number. */
  readonly bits: number;
}

const OPTIONS = {
  key: PEERS_KEY,
  bits: [
    `the number of bits that every side uses, from ${MIN_STRING_BITS} to ${MAX_STRING_BITS}`,
    isInteger(MIN_STRING_BITS, MAX_STRING_BITS),
  ],
  ...KEY_OPTIONS,
} satisfies OptionTable<GoZeroLayoutOptions>;

/** @throws {BloomConfigError} for an option that cannot work. */
export function checkGoZeroOptions(options: GoZeroLayoutOptions): void {
  checkOptions(options, { where: 'goZero()', known: OPTIONS, needed: ['key', 'bits'] });
}
