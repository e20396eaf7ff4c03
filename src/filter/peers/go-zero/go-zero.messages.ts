export const tooLarge = (mostBits: number, ids: number, errorRate: number) =>
  `Expected a filter of at most ${mostBits} bits, which is what Redis holds, got a larger one for ${ids} ids at an error ` +
  `rate of ${errorRate}. Lower the capacity, raise the error rate, or split the ids over several filters.`;
