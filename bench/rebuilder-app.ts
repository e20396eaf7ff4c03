import { openFilter, sourceOf } from './redis-bench.js';

// Rebuilds the filter `products` with each message, in a process of its own.
const [url, ids, leaseMs] = [process.argv[2]!, Number(process.argv[3]), Number(process.argv[4])];
const filter = await openFilter(
  url,
  {
    capacity: ids,
    errorRate: 0.0001,
    source: sourceOf(ids),
    replica: 'off',
    rebuild: { drainMs: 0 },
    ...(leaseMs > 0 && { leaseMs }),
  },
  { cleanUp: () => {} },
);
process.on('message', () => {
  const start = performance.now();
  void filter.rebuild().then(({ outcome }) => process.send!({ outcome, ms: performance.now() - start }));
});
process.on('disconnect', () => process.exit());
process.send!({ ready: true });
