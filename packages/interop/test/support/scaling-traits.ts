import { BLOCK_BYTES } from 'nestjs-bloom/filter';
import { planLayer } from '../../src/scaling/index.js';
import type { StoreTraits } from 'nestjs-bloom/testing/store';

/** In what filters that grow differ from others: the first layer has a fifth of the error rate. */
export const SCALING_TRAITS: StoreTraits = {
  shapeOf: (plan) => {
    const { hashCount, blocks } = planLayer(plan, 0)!;
    return { hashCount, bytes: blocks * BLOCK_BYTES };
  },
  // About 18 pass, with a standard deviation of 5: now and then only four.
  leastErrors: 1,
};
