import type { Bench } from './harness.js';

/** By name, in the order of the goals. */
export const BENCHES: Readonly<Record<string, () => Promise<{ bench: Bench }>>> = {
  'check-in-process': () => import('./check-in-process.bench.js'),
  'check-sizes': () => import('./check-sizes.bench.js'),
  'check-together': () => import('./check-together.bench.js'),
  'server-time': () => import('./server-time.bench.js'),
  'check-many': () => import('./check-many.bench.js'),
  'check-replica': () => import('./check-replica.bench.js'),
  add: () => import('./add.bench.js'),
};
