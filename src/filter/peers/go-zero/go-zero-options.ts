import { checkOptionNames, expecterOf } from '../../layout-options.js';
import { checkKeyOptions, checkPeersKey, type PeerKeyOptions } from '../options/key-options.js';
import { sharedBits } from '../options/options.messages.js';
import { MAX_STRING_BITS, MIN_STRING_BITS } from '../options/string-bits.js';

/** A filter of go-zero on the very key that go-zero uses. */
export interface GoZeroLayoutOptions extends PeerKeyOptions {
  /** As given to `bloom.New`. */
  readonly key: string;
  /** As given to `bloom.New`: stored nowhere, and silently wrong if one side has another number. */
  readonly bits: number;
}

const OPTIONS: readonly string[] = ['key', 'bits', 'foreignAdds', 'adopt'];

/** @throws {BloomConfigError} for an option that cannot work. */
export function checkGoZeroOptions(options: GoZeroLayoutOptions): void {
  checkOptionNames('goZero', options, OPTIONS);
  const expect = expecterOf('goZero');
  checkPeersKey(expect, 'key', options.key);
  const { bits } = options;
  const isSound = Number.isSafeInteger(bits) && bits >= MIN_STRING_BITS && bits <= MAX_STRING_BITS;
  expect('bits', bits, sharedBits(MIN_STRING_BITS, MAX_STRING_BITS), isSound);
  checkKeyOptions(expect, options);
}
