export type { BitmapFormat } from './bitmap-format.js';
export { goZeroFormat } from './go-zero-format.js';
export { guavaFormat } from './guava-format.js';
export { openBitmap } from './open-bitmap.js';
export { redissonFormat } from './redisson-format.js';
