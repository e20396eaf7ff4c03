import { readFileSync, writeFileSync } from 'node:fs';
import { openFilter, sourceOf } from './redis-bench.js';

// Rebuilds a filter of so many ids, made as they are read, and says how much memory that took.
const [url, count] = [process.argv[2]!, Number(process.argv[3])];

/** The largest resident set so far, in bytes. */
function peak(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024;
}

const filter = await openFilter(
  url,
  { capacity: count, errorRate: 0.0001, source: sourceOf(count), replica: 'off', rebuild: { drainMs: 0 } },
  { cleanUp: () => {} },
);
globalThis.gc!();
// Forgets the peak of loading and compiling.
writeFileSync('/proc/self/clear_refs', '5');
const before = peak();
const delays: number[] = [];
let last = performance.now();
const timer = setInterval(() => {
  const now = performance.now();
  delays.push(now - last - 1);
  last = now;
}, 1);
const report = await filter.rebuild();
clearInterval(timer);
delays.sort((a, b) => a - b);
process.send!({
  grownBytes: peak() - before,
  filterBytes: report.outcome === 'published' ? report.bytes : NaN,
  delayP99Ms: delays[Math.floor(delays.length * 0.99)] ?? 0,
});
