import { blocked } from '../../../../src/filter/index.js';
import type { BloomLayout } from 'nestjs-bloom/store';
import { cuckoo, goZero, redisBloom } from '../../src/index.js';
import { scaling } from '../../src/scaling/index.js';

const MAKERS = { blocked: () => blocked, cuckoo, goZero, redisBloom, scaling };

/** A layout as it can be sent to another process: which function makes it, and of what. */
export interface LayoutRecipe {
  readonly maker: keyof typeof MAKERS;
  readonly options?: object;
}

export function layoutOf({ maker, options = {} }: LayoutRecipe): BloomLayout {
  return MAKERS[maker](options as never);
}
