import { parentPort, workerData } from 'node:worker_threads';
import type { LoadMessage } from './load-in-worker.js';
import { type LoadPlan, runLoad } from './load.js';

const send = (message: LoadMessage): void => parentPort!.postMessage(message);

const result = await runLoad(workerData as LoadPlan, {
  onProgress: (share) => send({ share }),
  // The parent ends the whole thread instead.
  signal: new AbortController().signal,
});
send({ result });
