/** So many that a few of them can prove whose string it is. */
export const MIN_STRING_BITS = 64;
/** A Redis string has no bits beyond. */
export const MAX_STRING_BITS = 2 ** 32;
