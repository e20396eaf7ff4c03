import { BloomRebuildError, type BloomFilter, type BloomEvent, getBloomFilterToken } from 'nestjs-bloom';
import { forkedOptions } from '../../test/support/forked-program.js';
import { FILTER } from './filter-kinds.js';
import { createShop } from './shop-instance.js';
import type { FromRebuilder, RebuilderOptions, ToRebuilder } from './rebuilder-protocol.js';
import { readInBatches, ShopDatabase } from './shop-database.js';
import { SteppedRedis } from './stepped-redis.js';
import { PATIENT_TIMEOUT_MS } from './timings.js';

// A process that rebuilds once and stops itself at a step: killed, paused, or waiting for a signal.

const options = forkedOptions<RebuilderOptions>();
const { at, how } = options.stop;

let rowsArrived: (ids: readonly string[]) => void = () => {};
const table = new ShopDatabase([]);
table.ids = async function* ({ signal }) {
  const rows = new Promise<readonly string[]>((resolve) => (rowsArrived = resolve));
  await tell({ type: 'read' });
  const ids = await rows;
  yield* readInBatches(ids.slice(0, ids.length / 2));
  if (at === 'scan') await stop(signal);
  yield* readInBatches(ids.slice(ids.length / 2));
};

const redis = new SteppedRedis(options.redisUrl, at, stop);
redis.on('error', () => {});
const app = await createShop({ ...options, redis, table, timeoutMs: PATIENT_TIMEOUT_MS }, onEvent);
app.enableShutdownHooks();
process.on('message', (message: ToRebuilder) => {
  if (message.type === 'rows') rowsArrived(message.ids);
  else void rebuild();
});
await tell({ type: 'ready' });

async function rebuild(): Promise<void> {
  redis.isArmed = true;
  const filter = app.get<BloomFilter>(getBloomFilterToken(FILTER), { strict: false });
  const ended = await filter.rebuild().then(
    ({ outcome }) => outcome,
    (error: unknown) => (error instanceof BloomRebuildError ? error.reason : String(error)),
  );
  await tell({ type: 'ended', how: ended });
}

function onEvent(event: BloomEvent): void {
  if (at === 'drain' && event.type === 'rebuild-progress' && event.progress.phase === 'draining') void stop();
}

/**
 * Resolves, if ever, when the process goes on; whatever was to be sent is sent then, before anything else is
 * noticed.
 */
async function stop(signal?: AbortSignal): Promise<void> {
  await tell({ type: 'stopping' });
  if (how !== 'wait') process.kill(process.pid, how);
  else await new Promise((resolve) => signal?.addEventListener('abort', resolve));
}

function tell(message: FromRebuilder): Promise<void> {
  return new Promise((resolve) => process.send!(message, () => resolve()));
}
