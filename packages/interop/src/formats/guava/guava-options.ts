import { checkOptions, type OptionTable } from 'nestjs-bloom/internal';
import { FUNNEL, type GuavaFunnel } from '../java/funnel.js';
import { KEY_OPTIONS, type PeerKeyOptions, PEERS_KEY } from '../options/key-options.js';
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

const OPTIONS = {
  key: PEERS_KEY,
  funnel: FUNNEL,
  strategy: [
    `one of ${GUAVA_STRATEGIES.join(', ')}`,
    (strategy) => GUAVA_STRATEGIES.includes(strategy as GuavaStrategy),
  ],
  ...KEY_OPTIONS,
} satisfies OptionTable<GuavaLayoutOptions>;

/** @throws {BloomConfigError} for an option that cannot work. */
export function checkGuavaOptions(options: GuavaLayoutOptions): void {
  checkOptions(options, { where: 'guava()', known: OPTIONS, needed: ['key', 'funnel'] });
}
