import type { BloomLayout } from 'nestjs-bloom/store';
import { checkGoZeroOptions, goZeroCodec, type GoZeroLayoutOptions } from './formats/index.js';
import { goZeroFormat } from './redis/bitmap/index.js';
import { bitmapLayout } from './bitmap-layout.js';

/**
 * The layout of go-zero's `core/bloom`, on its very key in Redis; its members make and read such filters in memory.
 *
 * @throws {BloomConfigError} for an option that cannot work, or that it does not have.
 */
export const goZero = Object.assign(function goZero(options: GoZeroLayoutOptions): BloomLayout {
  checkGoZeroOptions(options);
  return bitmapLayout({
    kind: 'go-zero',
    maker: 'goZero',
    key: options.key,
    options,
    bytes: () => Math.ceil(options.bits / 8),
    format: (plan) => goZeroFormat(options, plan),
  });
}, goZeroCodec);
