import { checkOptionNames, expecterOf } from '../../layout-options.js';
import { checkKeyOptions, checkPeersKey, type PeerKeyOptions } from '../options/key-options.js';
import { oneOf } from '../options/options.messages.js';
import { checkFunnel, type GuavaFunnel } from '../java/funnel.js';
import { GUAVA_STRATEGIES, type GuavaStrategy } from './guava-layout.js';

/** A filter of Guava in a Redis string that holds what `BloomFilter.writeTo` writes. */
export interface GuavaLayoutOptions extends PeerKeyOptions {
  /** The key that the peers use. */
  readonly key: string;
  /** Stored nowhere, and silently wrong if one side has another. */
  readonly funnel: GuavaFunnel;
  /** Default `MURMUR128_MITZ_64`. */
  readonly strategy?: GuavaStrategy | undefined;
}

const OPTIONS: readonly string[] = ['key', 'funnel', 'strategy', 'foreignAdds', 'adopt'];

/** @throws {BloomConfigError} for an option that cannot work. */
export function checkGuavaOptions(options: GuavaLayoutOptions): void {
  checkOptionNames('guava', options, OPTIONS);
  const { key, funnel, strategy } = options;
  const expect = expecterOf('guava');
  checkPeersKey(expect, 'key', key);
  checkFunnel(expect, funnel);
  checkKeyOptions(expect, options);
  const isKnown = strategy === undefined || GUAVA_STRATEGIES.includes(strategy);
  expect('strategy', strategy, oneOf(GUAVA_STRATEGIES), isKnown);
}
