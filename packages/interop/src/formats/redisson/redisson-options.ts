import { checkOptions, type OptionTable, TRUE_OR_FALSE } from 'nestjs-bloom/internal';
import { KEY_OPTIONS, type PeerKeyOptions, PEERS_KEY } from '../options/key-options.js';
import { encoderOf, type RedissonCodec, type RedissonType } from './codec.js';

/** A filter of Redisson on the very keys that `RBloomFilter` uses. */
export interface RedissonLayoutOptions extends PeerKeyOptions {
  /** As given to `getBloomFilter`, after the client's `nameMapper` if it has one. */
  readonly name: string;
  /** The value codec of the filter: stored nowhere, and silently wrong if one side has another. */
  readonly codec: RedissonCodec;
  /** The class of the elements in Java. Default `String`. */
  readonly type?: RedissonType | undefined;
  /**
   * Whether a rebuild may give a filter that is there another size when the ids have outgrown it. Default false: Java handles that
   * know the old size answer "absent" for every id until they read the new one.
   */
  readonly resize?: boolean | undefined;
}

const OPTIONS = {
  name: PEERS_KEY,
  codec: true,
  type: true,
  resize: TRUE_OR_FALSE,
  ...KEY_OPTIONS,
} satisfies OptionTable<RedissonLayoutOptions>;

/** @throws {BloomConfigError} for an option that cannot work. */
export function checkRedissonOptions(options: RedissonLayoutOptions): void {
  checkOptions(options, { where: 'redisson()', known: OPTIONS, needed: ['name'] });
  encoderOf(options);
}
