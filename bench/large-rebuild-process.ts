import { readFileSync, writeFileSync } from 'node:fs';
import { packableIds } from '../src/rebuild/index.js';
import { integer } from '../src/filter/index.js';
import type { BloomIdSource } from '../src/rebuild/index.js';
import { PackedWriter } from '../packages/postgres/src/packed-writer.js';
import { openFilter } from './redis-bench.js';

// Rebuilds a filter of so many integers, which come packed as those of postgresCopy do, and says what that
// took.
const [url, count, memoryMiB] = [process.argv[2]!, Number(process.argv[3]), Number(process.argv[4])];
const IDS_PER_BATCH = 16_384;
const eight = new Uint8Array(8);
const value = new DataView(eight.buffer);

/** The largest resident set so far, in bytes. */
function peak(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024;
}

function batch(first: number, ids: number) {
  const writer = new PackedWriter(true);
  for (let id = first; id < first + ids; id++) {
    value.setUint32(0, id / 2 ** 32);
    value.setUint32(4, id);
    writer.int8(eight, 0);
  }
  return writer.take();
}

const source: BloomIdSource = {
  ids: () =>
    packableIds(async function* () {
      for (let first = 0; first < count; first += IDS_PER_BATCH)
        yield batch(first, Math.min(IDS_PER_BATCH, count - first));
    }, integer),
  spelling: { column: 'an integer', name: 'integer', normalize: integer },
};
const filter = await openFilter(
  url,
  { capacity: count, maxBytes: 2 ** 32, source, replica: 'off', rebuild: { drainMs: 0, memoryMiB } },
  { cleanUp: () => {} },
);
const seconds: Record<string, number> = {};
let phase = '';
let since = performance.now();
globalThis.gc?.();
// Forgets the peak of loading and compiling.
writeFileSync('/proc/self/clear_refs', '5');
const before = peak();
const used = process.cpuUsage();
const report = await filter.rebuild({
  onProgress: (progress) => {
    if (progress.phase === phase) return;
    const now = performance.now();
    if (phase !== '') seconds[phase] = (seconds[phase] ?? 0) + (now - since) / 1000;
    [phase, since] = [progress.phase, now];
  },
});
seconds[phase] = (seconds[phase] ?? 0) + (performance.now() - since) / 1000;
const { user, system } = process.cpuUsage(used);
const sample = Array.from({ length: 1000 }, (_, i) => String(Math.floor((i * count) / 1000)));
const verdicts = await filter.checkMany(sample);
const denied = await filter.checkMany(sample.map((id) => String(2 * count + Number(id))));
process.send!({
  seconds,
  processorSeconds: (user + system) / 1e6,
  report,
  wrongAbsents: verdicts.filter((verdict) => verdict !== 'maybe').length,
  passed: denied.filter((verdict) => verdict !== 'absent').length,
  peakBytes: peak(),
  grownBytes: peak() - before,
});
