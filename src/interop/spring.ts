import type { BloomLayout } from '../filter/index.js';
import {
  checkSpringOptions,
  springCodec,
  type SpringLayoutOptions,
  springSizeOf,
} from '../filter/peers/index.js';
import { springFormat } from '../store/redis/bitmap/index.js';
import { bitmapLayout } from './bitmap-layout.js';

/**
 * The layout of the `BloomFilterHelper` that is copied from one Spring project to the next, on its very key in Redis; its members make
 * and read such filters in memory.
 *
 * @throws {BloomConfigError} for an option that cannot work, or that it does not have.
 */
export const spring = Object.assign(function spring(options: SpringLayoutOptions): BloomLayout {
  checkSpringOptions(options);
  return bitmapLayout({
    kind: 'spring',
    maker: 'spring',
    key: options.key,
    options,
    bytes: () => Math.ceil(springSizeOf(options).bits / 8),
    format: (plan) => springFormat(options, plan),
  });
}, springCodec);
