import type { BloomVerdict } from '../store/index.js';

/** A promise for each verdict, shared: a lookup of an id that this process knows makes none. */
export const RESOLVED: Readonly<Record<BloomVerdict, Promise<BloomVerdict>>> = {
  absent: Promise.resolve('absent'),
  maybe: Promise.resolve('maybe'),
  unknown: Promise.resolve('unknown'),
};
