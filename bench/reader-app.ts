import { coveredFilter, openFilter, untilLeased } from './redis-bench.js';

// So many readers of the filter `products`, with leases or with covered copies, each with a connection of its
// own, as many processes have them.
const [readers, url, capacity] = [Number(process.argv[2]), process.argv[4]!, Number(process.argv[5])];
for (let i = 0; i < readers; i++) {
  if (process.argv[6] === 'covered') {
    await coveredFilter(url, capacity, { cleanUp: () => {} });
    continue;
  }
  const filter = await openFilter(url, { capacity, replica: 'leased' }, { cleanUp: () => {} });
  await untilLeased(filter);
}
process.on('disconnect', () => process.exit());
process.send!({ ready: true });
