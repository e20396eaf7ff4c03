import { openFilter, untilLeased } from './redis-bench.js';

// So many readers with leases of the filter `products`, each with a connection of its own, as many processes
// have them.
const [readers, url, capacity] = [Number(process.argv[2]), process.argv[4]!, Number(process.argv[5])];
for (let i = 0; i < readers; i++) {
  const filter = await openFilter(url, { capacity, replica: 'leased' }, { cleanUp: () => {} });
  await untilLeased(filter);
}
process.on('disconnect', () => process.exit());
process.send!({ ready: true });
