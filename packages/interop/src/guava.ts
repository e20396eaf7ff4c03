import type { BloomLayout } from 'nestjs-bloom/store';
import { checkGuavaOptions, guavaCodec, type GuavaLayoutOptions, guavaStringBytes } from './formats/index.js';
import { guavaFormat } from './redis/bitmap/index.js';
import { bitmapLayout } from './bitmap-layout.js';

/**
 * The layout of Guava's `BloomFilter`, in a Redis string that holds what `writeTo` writes; its members make and read such filters in
 * memory.
 *
 * @throws {BloomConfigError} for an option that cannot work, or that it does not have.
 */
export const guava = Object.assign(function guava(options: GuavaLayoutOptions): BloomLayout {
  checkGuavaOptions(options);
  return bitmapLayout({
    kind: 'guava',
    maker: 'guava',
    key: options.key,
    options,
    bytes: guavaStringBytes,
    format: (plan) => guavaFormat(options, plan),
  });
}, guavaCodec);
