import { NO_RECORDER, type StoreRecorder } from '../../src/store/index.js';
import { forkedOptions } from '../../test/support/forked-program.js';
import { type CopyReaderOptions, type FromCopyReader, lateId, machineMs } from './copy-reader-protocol.js';
import { openLeased } from './leased-filter.js';

// A process that reads with a lease, and looks for ids that are going to be added until it is told to stop.

const { redisUrl, leaseMs, ids } = forkedOptions<CopyReaderOptions>();
const counts: StoreRecorder = { ...NO_RECORDER };
const { store, filter } = await openLeased({
  redis: redisUrl,
  leaseMs,
  emit: hear,
  recorder: counts,
});
const names = Array.from({ length: ids }, (_, n) => lateId(n));
const absentAt = names.map(() => 0);
let running = true;
process.on('message', () => (running = false));
while (running) {
  const asked: unknown[] = [];
  for (let n = 0; n < ids; n++) {
    const at = machineMs();
    const verdict = filter.checkOne(names[n]!);
    if (verdict === 'absent') absentAt[n] = at;
    if (typeof verdict === 'object') asked.push(verdict.then((found) => found === 'absent' && note(n, at)));
  }
  await Promise.all(asked);
  await new Promise(setImmediate);
}
await filter.close();
await store.close();
tell({ type: 'ended', absentAt, local: counts.local });
process.disconnect();

function note(n: number, at: number): void {
  absentAt[n] = Math.max(absentAt[n]!, at);
}

function hear({ type }: { type: string }): void {
  if (type === 'copy-leased') tell({ type: 'leased' });
}

function tell(message: FromCopyReader): void {
  process.send?.(message);
}
