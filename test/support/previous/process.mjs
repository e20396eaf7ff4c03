// A process with the store of the version before leases, without its module and guards: opens a filter and
// does what it is asked to by messages.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { folder, url, name } = JSON.parse(process.env.BLOOM_FORKED_PROGRAM);
const from = (path) => import(pathToFileURL(join(folder, path)).href);
const { RedisStore } = await from('store/redis/index.js');
const { blocked } = await from('filter/index.js');
const { systemClock } = await from('common/index.js');

const events = [];
const emit = ({ type, found, supported }) => events.push({ type, found, supported });
const store = await RedisStore.connect({
  redis: url,
  keyPrefix: 'bloom',
  trustAfterFailover: false,
  timeoutMs: 10_000,
  writeTimeoutMs: 10_000,
  emit,
});
const plan = { capacity: 1000, errorRate: 1e-6, maxIdBytes: 64 };
const options = { name, emit, clock: systemClock, layout: blocked, plan, hasSource: true, drainMs: 10_000 };
const filter = store.open(options);

const actions = {
  add: (ids) => filter.add(ids),
  check: (ids) => filter.check(ids),
  async rebuild(ids) {
    const lease = await filter.lease({ leaseMs: 60_000 });
    try {
      const staging = await lease.stage(plan);
      for (const id of ids) staging.local.addKey(id);
      await staging.merge(new AbortController().signal);
      await staging.commit(ids.length);
    } finally {
      await lease.release();
    }
  },
};

process.on('message', ({ action, ids }) => {
  actions[action](ids).then(
    (result) => process.send({ result, events }),
    (error) => process.send({ error: String(error), events }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send({ events });
