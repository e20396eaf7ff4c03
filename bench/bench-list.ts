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
  rebuild: () => import('./rebuild.bench.js'),
  'other-clients': () => import('./other-clients.bench.js'),
  'rebuild-memory': () => import('./rebuild-memory.bench.js'),
  'bits-per-id': () => import('./bits-per-id.bench.js'),
  'guarded-method': () => import('./guarded-method.bench.js'),
  'guarded-route': () => import('./guarded-route.bench.js'),
  attack: () => import('./attack.bench.js'),
  'check-layouts': () => import('./check-layouts.bench.js'),
  sources: () => import('./sources.bench.js'),
  'postgres-copy': () => import('./postgres-copy.bench.js'),
  saturated: () => import('./saturated.bench.js'),
  counting: () => import('./counting.bench.js'),
  'check-leased': () => import('./check-leased.bench.js'),
  'attack-leased': () => import('./attack-leased.bench.js'),
  'add-readers': () => import('./add-readers.bench.js'),
  'leased-copy': () => import('./leased-copy.bench.js'),
  'check-during-rebuild': () => import('./check-during-rebuild.bench.js'),
};
