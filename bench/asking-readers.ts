import { setTimeout as delay } from 'node:timers/promises';
import type { ManagedFilter } from '../src/service/index.js';
import type { BloomReplicaMode } from '../src/store/index.js';
import { median } from './harness.js';
import { idText } from './ids.js';
import { openFilter, untilLeased } from './redis-bench.js';

const ABSENTS_PER_SECOND = 1000;

// So many readers of the filter `products`, each with a copy and a connection of its own, that ask for absent
// ids with each message.
const [url, readers, capacity] = [process.argv[2]!, Number(process.argv[3]), Number(process.argv[4])];
const replica = process.argv[5] as BloomReplicaMode;
const seconds = Number(process.argv[6]);
const filters: ManagedFilter[] = [];
for (let i = 0; i < readers; i++) {
  const filter = await openFilter(url, { capacity, errorRate: 1e-6, replica }, { cleanUp: () => {} });
  if (replica === 'leased') await untilLeased(filter);
  else await untilCopied(filter);
  filters.push(filter);
}

/** Waits until the copy answers for an id that exists. */
async function untilCopied(filter: ManagedFilter): Promise<void> {
  while (filter.metrics().lookups.local === 0) {
    await filter.check(idText('prod', 1));
    await delay(20);
  }
}

const remote = () => filters.reduce((sum, filter) => sum + filter.metrics().lookups.remote, 0);
let next = 0;

async function ask() {
  const waits: number[] = [];
  const checks: Promise<void>[] = [];
  const check = async (filter: ManagedFilter) => {
    const start = performance.now();
    await filter.check(idText('none', next++));
    waits.push(performance.now() - start);
  };
  const before = remote();
  const from = performance.now();
  for (let i = 0; i < ABSENTS_PER_SECOND * seconds; i++) {
    const early = from + (1000 * i) / ABSENTS_PER_SECOND - performance.now();
    if (early > 0) await delay(early);
    checks.push(check(filters[i % filters.length]!));
  }
  await Promise.all(checks);
  const took = (performance.now() - from) / 1000;
  waits.sort((a, b) => a - b);
  return {
    medianMs: median(waits),
    p99Ms: waits[Math.floor(0.99 * waits.length)]!,
    perSecond: waits.length / took,
    remotePerSecond: (remote() - before) / took,
  };
}

process.on('message', () => void ask().then((asked) => process.send!(asked)));
process.on('disconnect', () => process.exit());
process.send!({ ready: true });
