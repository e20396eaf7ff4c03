import { setTimeout as delay } from 'node:timers/promises';
import { AddTimes } from './add-times.js';
import { CopyReaderProcess } from './copy-reader-process.js';
import type { ServerSite } from './redis-site.js';
import type { ShopInstance } from './shop-instance.js';

const STOPS = 2;
/** It stands still for so many leases. */
const STOPPED_LEASES = 3;
const RUNS_MS = 700;
const ids = 4000;
/** Between two adds: there are ids left for the last stop. */
const PAUSE_MS = 4;

interface StoppedReader {
  readonly site: ServerSite;
  /** Reading of its copy. */
  readonly leaseMs: number;
  readonly adder: ShopInstance;
  readonly remark: (text: string) => void;
  /** Done each time before the reader is stopped. */
  readonly before?: () => Promise<unknown>;
  /** Done each time that the reader has been stopped, while ids are added. */
  readonly meanwhile?: () => Promise<unknown>;
}

/** Stops a reader past its lease (SIGSTOP), again and again, while ids are added that it looks for. */
export async function stopReader({
  site,
  leaseMs,
  adder,
  remark,
  before,
  meanwhile,
}: StoppedReader): Promise<void> {
  const reader = await CopyReaderProcess.start({
    redisUrl: site.server.url,
    leaseMs,
    ids,
  });
  const times = new AddTimes(site.admin, leaseMs);
  try {
    const addFor = async (ms: number) => {
      for (const until = performance.now() + ms; performance.now() < until; await delay(PAUSE_MS))
        await times.time(() => reader.add((id) => added(adder, id)));
    };
    await addFor(RUNS_MS);
    for (let i = 0; i < STOPS; i++) {
      await before?.();
      reader.signal('SIGSTOP');
      await Promise.all([addFor(STOPPED_LEASES * leaseMs), meanwhile?.()]);
      reader.signal('SIGCONT');
      await addFor(RUNS_MS);
    }
    const { wrong, local } = await reader.end();
    remark(`the reader answered ${local} lookups from its copy`);
    if (wrong.length > 0) throw new Error(`It denied ${wrong.length} ids, such as ${wrong[0]}.`);
    times.judge(remark);
  } finally {
    reader.stop();
  }
}

/** Resolves when the add of an id has been acknowledged: its row is written after that. */
function added({ shop }: ShopInstance, id: string): Promise<void> {
  return new Promise((resolve, reject) => {
    shop.create(id, resolve).catch(reject);
  });
}
