import { setTimeout as delay } from 'node:timers/promises';
import { RedisStore } from '../src/store/redis/index.js';
import type { RebuildLease, Staging, StoredFilter } from '../src/store/index.js';
import { leaseOf, mergeIds } from '../test/support/built-filter.js';
import { openOptions } from '../test/support/open-options.js';
import { assert, type Bench, type BenchContext, median } from './harness.js';
import { OtherProcess } from './other-process.js';
import { redisBench } from './redis-bench.js';

const ERROR_RATE = 0.001;
const PARTS = 16;
/** Ids of each part: sixteen parts hold 10^9. */
const IDS = 62_500_000;
const LEASE_MS = 600_000;
const PAUSE_MS = 100;
const ID = 'one';
const METRIC = `ms, longest wait of another client, swap of ${PARTS} parts`;

interface Waits {
  readonly longestMs: number;
}

interface Staged {
  readonly part: StoredFilter;
  readonly lease: RebuildLease;
  readonly staging: Staging;
}

/**
 * How long other clients wait while all parts of a filter are swapped, all at once and one after the other,
 * on one node.
 */
export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const { url } = await redisBench(context);
  const stage = await stagesOf(url, pick(IDS, 50_000), context);
  const other = OtherProcess.start('waiting-client.ts', [url], context);
  await other.answer();
  const during = async (work: () => Promise<unknown>) => {
    await other.ask('start');
    await work();
    return (await other.ask<Waits>('stop')).longestMs;
  };
  // From the second time on there is a generation to replace.
  await swapAtOnce(await stage());
  const idle: number[] = [];
  const atOnce: number[] = [];
  const inTurn: number[] = [];
  for (let round = 0; round < pick(3, 1); round++) {
    idle.push(await during(() => delay(PARTS * PAUSE_MS)));
    const first = await stage();
    atOnce.push(await during(() => swapAtOnce(first)));
    const second = await stage();
    inTurn.push(await during(() => swapInTurn(second)));
  }
  report.figure('no swap', METRIC, median(idle));
  report.figure('all at once', METRIC, median(atOnce));
  report.figure('one after the other', METRIC, median(inTurn));
};

/** Opens the parts; the function stages an empty generation of full size for each of them. */
async function stagesOf(url: string, ids: number, context: BenchContext): Promise<() => Promise<Staged[]>> {
  const store = await RedisStore.connect({
    redis: url,
    keyPrefix: 'bench',
    timeoutMs: 5000,
    writeTimeoutMs: 10_000,
    trustAfterFailover: false,
    emit: (event) => {
      if ('error' in event) throw event.error;
    },
  });
  context.cleanUp(() => store.close());
  const parts = Array.from({ length: PARTS }, (_, part) => store.open(openOptions({ name: `part-${part}` })));
  context.cleanUp(() => Promise.all(parts.map((part) => part.close())));
  return async () => {
    const staged: Staged[] = [];
    for (const part of parts) {
      const lease = await leaseOf(part, LEASE_MS);
      const staging = await lease.stage({ capacity: ids, errorRate: ERROR_RATE, maxIdBytes: 64 });
      await mergeIds(staging, [ID]);
      staged.push({ part, lease, staging });
    }
    return staged;
  };
}

async function swapAtOnce(staged: readonly Staged[]): Promise<void> {
  await Promise.all(staged.map(({ staging }) => staging.commit(1)));
  await released(staged);
}

async function swapInTurn(staged: readonly Staged[]): Promise<void> {
  for (const { staging } of staged) {
    await staging.commit(1);
    await delay(PAUSE_MS);
  }
  await released(staged);
}

async function released(staged: readonly Staged[]): Promise<void> {
  for (const { part, lease } of staged) {
    await lease.release();
    const [verdict] = await part.check([ID]);
    assert(verdict === 'maybe', 'every part to be swapped');
  }
}
