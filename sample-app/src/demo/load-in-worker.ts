import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LoadResult, RunLoad } from './load.js';

export type LoadMessage = { readonly share: number } | { readonly result: LoadResult };

/** Makes the load in a thread of its own, so that the shop has its thread for itself. */
export const runLoadInWorker: RunLoad = async (plan, { onProgress, signal }) => {
  const worker = new Worker(new URL('./load.worker.js', import.meta.url), { workerData: plan });
  let result: LoadResult | undefined;
  worker.on('message', (message: LoadMessage) => {
    if ('result' in message) result = message.result;
    else onProgress(message.share);
  });
  try {
    // `once` rejects with what the thread throws.
    await once(worker, 'exit', { signal });
  } finally {
    await worker.terminate();
  }
  if (!result) throw new Error('The load generator ended without a result.');
  return result;
};
